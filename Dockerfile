# The image of the service. It contains only the runtime and the bundle.
#   docker build --tag portico .
# For Bun add --build-arg RUNTIME=bun. (buildah 1.28 and podman 4.3 need --build-arg RUNTIME=node for Node.)
ARG RUNTIME=node
# The base images. NODE_IMAGE and BUN_IMAGE only need `node` or `bun` on the PATH and its shared libraries, but no shell.
ARG BUILD_IMAGE=node:24-slim
ARG NODE_IMAGE=node:24-slim
ARG BUN_IMAGE=oven/bun:1.4-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The build does not need the programs that install scripts download.
RUN npm ci --ignore-scripts && npm cache clean --force
COPY LICENSE rolldown.config.ts ./
COPY dev/build dev/build
# The examples of the OpenAPI document.
COPY docs/api docs/api
COPY docs/errors.md docs/errors.md
COPY src src
RUN npx rolldown -c

# The example worker of compose.yaml. It includes the build tools; the image of your own worker can be smaller.
FROM build AS worker
COPY examples examples
USER 1000:1000
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "examples/worker.ts"]

# ENTRYPOINT and HEALTHCHECK use the exec form: the image may not have a shell, and the runtime itself must get SIGTERM.
FROM ${NODE_IMAGE} AS node
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SERVICE_PORT || 3001}${(process.env.SERVICE_BASE_PATH || '').replace(/[/]$/, '')}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/node.js"]

FROM ${BUN_IMAGE} AS bun
# The maximum. With the default, 256 waiting runs would block all other requests to the engine's HTTP API.
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
COPY --from=build /app/dist/${RUNTIME}.js /app/dist/server-*.js /app/dist/docs-page.js dist/
COPY --from=build /app/dist/sbom.cdx.json /app/dist/THIRD-PARTY-NOTICES dist/
# Nothing outside the container can connect to its loopback address. Because of this, the service requires
# SERVICE_API_AUTH_TOKEN or SERVICE_ALLOW_ANONYMOUS=true.
ENV SERVICE_HOST=0.0.0.0
EXPOSE 3001
USER 1000:1000
STOPSIGNAL SIGTERM
