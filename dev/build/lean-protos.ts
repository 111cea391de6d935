/** Removes message definitions that the service does not use from bundles: those of the SDK's core and of Temporal Cloud's API. */
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
        // Each option is there twice.
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
