# The image of web and worker alike (ROLE); PostgreSQL is a service beside it.
#
# The base image is pinned by digest. To move to a newer one:
#   docker buildx imagetools inspect node:24-slim --format '{{.Manifest.Digest}}'
# Another one, such as a mirror's: docker build --build-arg NODE_IMAGE=...
ARG NODE_IMAGE=node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has its Node and its PostgreSQL elsewhere, so the optional packages that bring them stay out.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

# The dashboard is built in a stage of its own: what builds it is not in the image.
FROM ${NODE_IMAGE} AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
RUN npm run build

FROM ${NODE_IMAGE}
# tini is the container's first process: it reaps the children that git leaves behind when it is killed. Node would not.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git tini \
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
# Fails when the process hangs, and when its database or its queue is gone; see docs/operations.md.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=3 CMD ["node", "src/healthy.ts"]
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "src/main.ts"]
