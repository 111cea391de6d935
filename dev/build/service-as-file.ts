import type { Plugin } from 'rolldown'

/** `portico` without a command loads the service's own bundle, so that commands do not share chunks with it. */
export function serviceAsFile(): Plugin {
  return {
    name: 'service-as-file',
    resolveId: (source) => (source.endsWith('/runtime/node/index.ts') ? { id: './node.js', external: true } : null),
  }
}
