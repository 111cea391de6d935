/** Temporal's message definitions, for bundles: those of the SDK's package without what nobody here asks for. */
import type { Plugin } from 'rolldown'

/** What protobufjs makes of .proto files, as far as it is looked at here. */
interface Definition {
  nested?: Record<string, Definition>
}

/** `without` has the full names of what is left out. */
export function leanProtos({ without }: { without: string[] }): Plugin {
  return {
    name: 'lean-protos',
    transform: {
      filter: { id: /@temporalio\/proto\/protos\/json-module\.js$/ },
      handler(code) {
        const [, before = '', json = '', after = ''] = /^(.*\.addJSON\()(\{.*\})(\);.*)$/s.exec(code) ?? []
        // Each option stands there twice.
        const nested = JSON.parse(json, (key, value) => (key === 'parsedOptions' ? undefined : value)) as Record<string, Definition>
        for (const name of without) remove({ nested }, name.split('.'))
        return `${before}JSON.parse(${JSON.stringify(JSON.stringify(nested))})${after}`
      },
    },
  }
}

function remove({ nested = {} }: Definition, [first = '', ...rest]: string[]): void {
  if (rest.length === 0) delete nested[first]
  else if (nested[first] !== undefined) remove(nested[first], rest)
}
