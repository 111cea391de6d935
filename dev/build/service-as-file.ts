import type { Plugin } from 'rolldown'

const SERVICES = { '../service/runtime/node/index.ts': './node.js', '../service/runtime/bun.ts': './bun.js' }

/** `portico` without a command loads the service's own bundle, so that commands do not share chunks with it. */
export function serviceAsFile(): Plugin {
  return asFiles('service-as-file', SERVICES)
}

/** `portico/bulk` loads the bundle of `portico/client`, so that both throw the same errors. */
export function clientAsFile(): Plugin {
  return asFiles('client-as-file', { '../index.ts': './client.js' })
}

function asFiles(name: string, files: Readonly<Record<string, string>>): Plugin {
  const named = new Map(Object.entries(files))
  return {
    name,
    resolveId(source) {
      const id = named.get(source)
      return id === undefined ? null : { id, external: true }
    },
  }
}
