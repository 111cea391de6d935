/** The schemas of a workflow as hosts accept them. */
import { createIdentifiers } from '../json-schema/published/identifiers.ts'
import { type PublishTarget, publishSchema } from '../json-schema/published/published-schema.ts'
import type { Schema } from '../json-schema/published/schema-keywords.ts'
import { isObject } from '../lib/json.ts'
import type { JsonSchema } from '../protocol/catalog.ts'

/**
 * How the object of a tool's arguments becomes the arguments of its workflow. `flat`: the object is the only argument.
 * `wrapped`: its field `input` is. `open`: it has `input` or `args`. `none`: the workflow takes no argument.
 */
export type ArgumentForm = 'flat' | 'wrapped' | 'open' | 'none'

export interface InputSchema {
  form: ArgumentForm
  schema: Schema
}

type BudgetOf = PublishTarget['budgetOf']

const OPEN: Schema = {
  type: 'object',
  properties: {
    input: { description: 'The argument of the workflow' },
    args: { type: 'array', items: {}, description: 'Instead of `input`: several arguments' },
  },
  additionalProperties: false,
}

const EMPTY: Schema = { type: 'object', properties: {}, additionalProperties: false }

/** `requiresDefaults`: whether fields with a default can be required. */
export function inputSchemaOf(
  published: JsonSchema | null,
  { isOptional, requiresDefaults, budgetOf }: { isOptional: boolean; requiresDefaults: boolean; budgetOf: BudgetOf },
): InputSchema {
  if (published === null) return { form: 'open', schema: OPEN }
  if (published === false) return { form: 'none', schema: EMPTY }
  const { root, definitions } = shown(published, 'input', { requiresDefaults, budgetOf })
  if (isFlat(root)) return { form: 'flat', schema: { ...root, ...definitions } }
  const schema = {
    type: 'object',
    properties: { input: root },
    ...(!isOptional && { required: ['input'] }),
    additionalProperties: false,
    ...definitions,
  }
  return { form: 'wrapped', schema }
}

// Left out of output schemas: a client that checks a format in another way would reject the output of a run.
const UNCHECKED: ReadonlySet<string> = new Set(['format'])

/** Every result of the tool matches it, also one about a run that is open, has failed, or was not started. */
export function outputSchemaOf(published: JsonSchema | null, budgetOf: BudgetOf): Schema {
  const { root, definitions } =
    published === null || published === false
      ? { root: {}, definitions: {} }
      : shown(published, 'output', { requiresDefaults: true, budgetOf, omit: UNCHECKED })
  return {
    type: 'object',
    properties: {
      workflowId: { type: 'string' },
      runId: { type: 'string' },
      status: { type: 'string', description: '`completed`, `running`, or why there is no output' },
      output: root,
      error: { type: 'object', description: 'Why the workflow did not complete, or the call was rejected' },
      note: { type: 'string', description: 'What to do next' },
      unexpectedOutput: { description: 'An output that does not match its schema' },
    },
    required: ['status'],
    ...definitions,
  }
}

const PREFIX = '#/$defs/'

/** Separates the schema from its definitions, which must be at the root of the document. */
function shown(
  published: JsonSchema,
  name: string,
  options: Pick<PublishTarget, 'budgetOf' | 'omit' | 'requiresDefaults'>,
): { root: Schema; definitions: { $defs?: Record<string, Schema> } } {
  const components: Record<string, Schema> = {}
  const target = { ...options, identifiers: createIdentifiers([name]), components, refPrefix: PREFIX }
  const reference = publishSchema(published, name, target)
  const root = resolved(reference, components)
  const used = referencedFrom(root, components)
  return { root, definitions: used.length === 0 ? {} : { $defs: Object.fromEntries(used) } }
}

/** Replaces a schema that is only a reference by its target: hosts do not resolve a reference at the root. */
function resolved(schema: Schema, components: Readonly<Record<string, Schema>>): Schema {
  const seen = new Set<string>()
  let current = schema
  while (true) {
    const { $ref, ...others } = current
    if (typeof $ref !== 'string' || Object.keys(others).length > 0 || seen.has($ref)) return current
    seen.add($ref)
    current = components[$ref.slice(PREFIX.length)] ?? {}
  }
}

/** The components that the schema refers to, directly or through others. */
function referencedFrom(schema: Schema, components: Readonly<Record<string, Schema>>): [string, Schema][] {
  const used = new Map<string, Schema>()
  const open: unknown[] = [schema]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const reference: unknown = Reflect.get(next, '$ref')
    const name = typeof reference === 'string' && reference.startsWith(PREFIX) ? reference.slice(PREFIX.length) : ''
    const component = Object.hasOwn(components, name) ? components[name] : undefined
    if (component !== undefined && !used.has(name)) {
      used.set(name, component)
      open.push(component)
    }
    open.push(...Object.values(next))
  }
  return [...used]
}

// Hosts reject a tool, or all tools, because of these at the root.
const NOT_AT_ROOT = [
  ...['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const'],
  ...['if', 'then', 'else', '$ref', 'dependentSchemas'],
]

const HOST_KEY = /^[a-zA-Z0-9_.-]{1,64}$/

function isFlat(root: Schema): boolean {
  if (root.type !== 'object' || NOT_AT_ROOT.some((keyword) => keyword in root)) return false
  const { properties = {}, required = [] } = root
  const keys = [...Object.keys(isObject(properties) ? properties : {}), ...(Array.isArray(required) ? required : [])]
  return keys.every((key) => HOST_KEY.test(String(key)))
}
