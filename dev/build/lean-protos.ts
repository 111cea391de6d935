/** Temporal's message definitions, for bundles: without those of the SDK's core and of Temporal Cloud's own service, which this service does not speak. */
import type { Plugin } from 'rolldown'

interface Nested {
  nested: Record<string, Nested>
}

export function leanProtos(): Plugin {
  return {
    name: 'lean-protos',
    transform: {
      filter: { id: /@temporalio\/proto\/protos\/json-module\.js$/ },
      handler(code) {
        const [, before = '', json = '', after = ''] = /^(.*\.addJSON\()(\{.*\})(\);.*)$/s.exec(code) ?? []
        // Each option stands there twice.
        const nested = JSON.parse(json, (key, value) => (key === 'parsedOptions' ? undefined : value)) as Record<
          string,
          Nested
        >
        const { coresdk: _, ...lean } = nested
        const { api } = lean.temporal?.nested ?? {}
        delete api?.nested.cloud
        return `${before}JSON.parse(${JSON.stringify(JSON.stringify(lean))})${after}`
      },
    },
  }
}
