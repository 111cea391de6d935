# The service as an image: a runtime and the bundle, nothing else.
#   docker build --tag portico .
# On Bun this line is `ARG RUNTIME=bun`, or --build-arg RUNTIME=bun. (buildah 1.28 and podman 4.3 have to be told --build-arg RUNTIME=node too.)
ARG RUNTIME=node
# The bases: of the last two nothing is used but `node` or `bun` on the PATH, and what it links to. No shell.
ARG BUILD_IMAGE=node:24-slim
ARG NODE_IMAGE=node:24-slim
ARG BUN_IMAGE=oven/bun:1.4-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# What is built runs none of the programs that install scripts fetch.
RUN npm ci --ignore-scripts && npm cache clean --force
COPY LICENSE rolldown.config.ts ./
COPY dev/build dev/build
COPY src src
RUN npx rolldown -c

# The example worker of compose.yaml, with everything that was needed to build: an image of your own worker can be smaller.
FROM build AS worker
COPY examples examples
USER 1000:1000
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "examples/worker.ts"]

# Exec forms alone: there may be no shell, and SIGTERM has to reach the runtime itself, which needs no init above it.
FROM ${NODE_IMAGE} AS node
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SERVICE_PORT || 3001}${(process.env.SERVICE_BASE_PATH || '').replace(/[/]$/, '')}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/node.js"]

FROM ${BUN_IMAGE} AS bun
# Its greatest: else 256 waiting runs stop everything else when the engine is reached over HTTP.
ENV BUN_CONFIG_MAX_HTTP_REQUESTS=65336
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s CMD ["bun", "-e", "fetch(`http://127.0.0.1:${process.env.SERVICE_PORT || 3001}${(process.env.SERVICE_BASE_PATH || '').replace(/[/]$/, '')}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["bun", "dist/bun.js"]

FROM ${RUNTIME} AS service
ARG RUNTIME
LABEL org.opencontainers.image.title="Portico" \
      org.opencontainers.image.description="The HTTP front door for Temporal" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=build /app/LICENSE /app/package.json ./
COPY --from=build /app/dist/${RUNTIME}.js /app/dist/server-*.js dist/
# Loopback would be the container's own. Without SERVICE_API_AUTH_TOKEN it refuses to start, unless SERVICE_ALLOW_ANONYMOUS=true.
ENV SERVICE_HOST=0.0.0.0
EXPOSE 3001
USER 1000:1000
STOPSIGNAL SIGTERM
