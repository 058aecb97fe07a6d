# The image of web and worker alike (ROLE); PostgreSQL is a service beside it.
FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has its Node and its PostgreSQL elsewhere, so the optional packages that bring them stay out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

# The dashboard is built apart: what builds it is not in the image.
FROM node:24-slim AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY src ./src
RUN npm run build

FROM node:24-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json app.yml ./
COPY migrations ./migrations
COPY src ./src
COPY --from=dashboard /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "if (process.env.ROLE !== 'worker') fetch('http://127.0.0.1:' + (process.env.PORT || 3000) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
