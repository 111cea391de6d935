import type { Plugin } from 'rolldown'

const SERVICES = { '../service/runtime/node/index.ts': './node.js', '../service/runtime/bun.ts': './bun.js' }

/** `portico` without a command loads the service's own bundle, so that commands do not share chunks with it. */
export function serviceAsFile(): Plugin {
  const services = new Map(Object.entries(SERVICES))
  return {
    name: 'service-as-file',
    resolveId(source) {
      const id = services.get(source)
      return id === undefined ? null : { id, external: true }
    },
  }
}
