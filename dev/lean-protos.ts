/** Temporal's message definitions, for bundles: those of the SDK's package without what nobody here asks for. */
import type { Plugin } from 'rolldown'
import { METHODS } from '../src/engine/transport/transport.ts'

/** What protobufjs makes of .proto files, as far as it is looked at here. */
interface Definition {
  nested?: Record<string, Definition>
  fields?: Record<string, { type: string }>
  methods?: Record<string, { requestType: string; responseType: string }>
}

/** The full names of what is left out; or of what is left in, with all that it speaks of. Services keep the methods that we call. */
export function leanProtos(names: { without: string[] } | { only: string[] }): Plugin {
  return {
    name: 'lean-protos',
    transform: {
      filter: { id: /@temporalio\/proto\/protos\/json-module\.js$/ },
      handler(code) {
        const [, before = '', json = '', after = ''] = /^(.*\.addJSON\()(\{.*\})(\);.*)$/s.exec(code) ?? []
        // Each option stands there twice.
        const nested = JSON.parse(json, (key, value) => (key === 'parsedOptions' ? undefined : value)) as Record<string, Definition>
        const root: Definition = { nested }
        if ('without' in names) for (const name of names.without) remove(root, name.split('.'))
        else keepOnly(root, reachable(root, names.only))
        return `${before}JSON.parse(${JSON.stringify(JSON.stringify(root.nested))})${after}`
      },
    },
  }
}

function remove({ nested = {} }: Definition, [first = '', ...rest]: string[]): void {
  if (rest.length === 0) delete nested[first]
  else if (nested[first] !== undefined) remove(nested[first], rest)
}

/** The full names of what begins so, and of all that they speak of. */
function reachable(root: Definition, from: string[]): Set<string> {
  const all = new Map(namedIn(root))
  const found = new Set<string>()
  const visit = (name: string) => {
    const definition = all.get(name)
    if (definition === undefined || found.has(name)) return
    found.add(name)
    for (const spoken of spokenOf(definition))
      visit(
        scopesOf(name)
          .map((scope) => `${scope}${spoken}`)
          .find((full) => all.has(full)) ?? '',
      )
  }
  for (const name of all.keys()) if (from.some((start) => `${name}.`.startsWith(`${start}.`))) visit(name)
  return found
}

function namedIn({ nested = {} }: Definition, scope = ''): [string, Definition][] {
  return Object.entries(nested).flatMap(([name, definition]): [string, Definition][] => [
    [`${scope}${name}`, definition],
    ...namedIn(definition, `${scope}${name}.`),
  ])
}

function spokenOf({ fields = {}, methods = {} }: Definition): string[] {
  const asked = Object.entries(methods).filter(([name]) => isCalled(name))
  return [
    ...Object.values(fields).map(({ type }) => type),
    ...asked.flatMap(([, { requestType, responseType }]) => [requestType, responseType]),
  ]
}

/** Where a name in `name` is looked for: from the innermost scope outwards, each with its dot. */
function scopesOf(name: string): string[] {
  const parts = name.split('.')
  return parts
    .map((_, index) =>
      parts
        .slice(0, parts.length - index)
        .map((part) => `${part}.`)
        .join(''),
    )
    .concat('')
}

/** Packages stay where they hold something that does. */
function keepOnly(definition: Definition, kept: ReadonlySet<string>, scope = ''): void {
  for (const [name, inner] of Object.entries(definition.nested ?? {})) {
    keepOnly(inner, kept, `${scope}${name}.`)
    if (!kept.has(`${scope}${name}`) && Object.keys(inner.nested ?? {}).length === 0) delete definition.nested?.[name]
  }
  for (const name of Object.keys(definition.methods ?? {})) if (!isCalled(name)) delete definition.methods?.[name]
}

/** Whether we make this call, by its name in .proto files: ours begins with a small letter. */
function isCalled(name: string): boolean {
  return METHODS.some((method) => method.toLowerCase() === name.toLowerCase())
}
