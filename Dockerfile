# One image for web and worker (ROLE). PostgreSQL is a separate service.
#
# The base image is pinned by digest. To move to a newer one:
#   docker buildx imagetools inspect node:24-slim --format '{{.Manifest.Digest}}'
# To use another one, such as a mirror's: docker build --build-arg NODE_IMAGE=...
ARG NODE_IMAGE=node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Node comes with the base image and PostgreSQL is separate, so leave out the optional packages that contain them.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

# The dashboard is built in its own stage, so that the tools that build it are not in the image.
FROM ${NODE_IMAGE} AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
# What the stage before installs, for scanners. It is made from the lock file, so its time and its order do not change it.
RUN npm run --silent sbom
COPY tsconfig.json ./
COPY src ./src
RUN npm run build

FROM ${NODE_IMAGE}
# tini is the container's first process. It reaps the children that a killed git leaves behind; Node would not.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git ripgrep tini umoci zstd \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json app.yml ./
COPY migrations ./migrations
COPY src ./src
COPY --from=dashboard /app/sbom.cdx.json ./
COPY --from=dashboard /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 3000
# Fails when the process hangs, or when its database or queue is away; see docs/operations.md.
HEALTHCHECK --interval=15s --timeout=10s --start-period=60s --retries=3 CMD ["node", "src/healthy.ts"]
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "src/main.ts"]
