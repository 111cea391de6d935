/**
 * Removes from bundles what the service does not use of the message definitions: those of the SDK's core and of
 * Temporal Cloud's API, and the OpenAPI descriptions and the paths of the HTTP API.
 */
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
        const used = (key: string, value: unknown) => (isUnused(key) ? undefined : value)
        const nested = JSON.parse(json, used) as Record<string, Nested>
        const { coresdk: _, ...lean } = nested
        const { api } = lean.temporal?.nested ?? {}
        delete api?.nested.cloud
        return `${before}JSON.parse(${JSON.stringify(JSON.stringify(lean))})${after}`
      },
    },
  }
}

/**
 * Each option exists twice. An option in parentheses extends protobuf's own options, and does not change the encoding.
 */
function isUnused(key: string): boolean {
  return key === 'parsedOptions' || key.startsWith('(')
}
