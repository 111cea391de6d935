/** Temporal's message definitions, for bundles: those of the SDK's package without its core's, which workers alone speak. */
import type { Plugin } from 'rolldown'

export function leanProtos(): Plugin {
  return {
    name: 'lean-protos',
    transform: {
      filter: { id: /@temporalio\/proto\/protos\/json-module\.js$/ },
      handler(code) {
        const [, before = '', json = '', after = ''] = /^(.*\.addJSON\()(\{.*\})(\);.*)$/s.exec(code) ?? []
        // Each option stands there twice.
        const nested = JSON.parse(json, (key, value) => (key === 'parsedOptions' ? undefined : value)) as Record<string, unknown>
        const { coresdk: _, ...lean } = nested
        return `${before}JSON.parse(${JSON.stringify(JSON.stringify(lean))})${after}`
      },
    },
  }
}
