/** The schemas of a workflow as hosts accept them. */
import { createBudget } from '../../../../shared/json-schema/check.ts'
import { createIdentifiers } from '../../../../shared/json-schema/published/identifiers.ts'
import { type PublishTarget, publishSchema } from '../../../../shared/json-schema/published/published-schema.ts'
import type { ShownSchema } from '../../../../shared/json-schema/published/schema-keywords.ts'
import { isObject } from '../../../../shared/lib/json.ts'
import type { JsonSchema } from '../../../../shared/wire/catalog.ts'
import { type Direction, toHostSchema, typedParameter } from './host-schema.ts'

/**
 * How the object of a tool's arguments becomes the arguments of its workflow. `flat`: the object is the only argument.
 * `wrapped`: its field `input` is. `open`: it has `input` or `args`. `none`: the workflow takes no argument.
 */
export type ArgumentForm = 'flat' | 'wrapped' | 'open' | 'none'

export interface ToolInputSchema {
  form: ArgumentForm
  schema: ShownSchema
}

type BudgetOf = PublishTarget['budgetOf']

const OPEN: ShownSchema = {
  type: 'object',
  properties: {
    input: typedParameter({ description: 'The argument of the workflow' }),
    args: { type: 'array', items: {}, description: 'Instead of `input`: several arguments' },
  },
  additionalProperties: false,
}

const EMPTY: ShownSchema = { type: 'object', properties: {}, additionalProperties: false }

/** `requiresDefaults`: whether fields with a default can be required. */
export function inputSchemaOf(
  published: JsonSchema | null,
  { isOptional, requiresDefaults, budgetOf }: { isOptional: boolean; requiresDefaults: boolean; budgetOf: BudgetOf },
): ToolInputSchema {
  if (published === null) return { form: 'open', schema: OPEN }
  if (published === false) return { form: 'none', schema: EMPTY }
  const { root, reference, definitions } = shown(published, 'input', { requiresDefaults, budgetOf })
  if (isFlat(root)) return { form: 'flat', schema: fitting(flat(root, reference, definitions), TOO_LARGE.flat) }
  const wrapped = (input: ShownSchema) => ({
    type: 'object',
    properties: { input },
    ...(!isOptional && { required: ['input'] }),
    additionalProperties: false,
  })
  const schema = { ...wrapped(typedParameter(reference ?? root)), ...inDefs(definitions) }
  return { form: 'wrapped', schema: fitting(schema, wrapped(TOO_LARGE.wrapped)) }
}

// Models read the schemas of all tools before each request.
const MAX_BYTES = 64 * 1024

const TOO_LARGE = {
  flat: { type: 'object', description: 'The published schema is too large to be shown' },
  wrapped: typedParameter({ description: 'The published schema is too large to be shown' }),
}

/** `other` for a schema that is too large. The service checks the input with the published one. */
function fitting(schema: ShownSchema, other: ShownSchema): ShownSchema {
  return byteLength(schema) > MAX_BYTES ? other : schema
}

/** The schema of outputs without that of the output, if the schemas of the tool would be too large with it. */
export function fittingOutputSchema(outputSchema: ShownSchema, inputSchema: ShownSchema): ShownSchema {
  const isTooLarge = byteLength(outputSchema) + byteLength(inputSchema) > MAX_BYTES
  return isTooLarge ? outputSchemaOf(null, () => createBudget(0)) : outputSchema
}

function byteLength(schema: ShownSchema): number {
  return new TextEncoder().encode(JSON.stringify(schema)).length
}

/** The schema of the whole object. If it refers to itself, it is not written again in the definitions. */
function flat(root: ShownSchema, reference: ShownSchema | null, definitions: Definitions): ShownSchema {
  if (reference === null) return { ...root, ...inDefs(definitions) }
  const others = definitions.filter(([, definition]) => definition !== root)
  const refersTo = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refersTo)
    if (!isObject(value)) return value
    if (value.$ref === reference.$ref) return { ...value, $ref: '#' }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, refersTo(inner)]))
  }
  return refersTo({ ...root, ...inDefs(others) }) as ShownSchema
}

/** Every result of the tool matches it, also one about a run that is open, has failed, or was not started. */
export function outputSchemaOf(published: JsonSchema | null, budgetOf: BudgetOf): ShownSchema {
  const { root, reference, definitions } =
    published === null || published === false
      ? { root: {}, reference: null, definitions: [] }
      : shown(published, 'output', { requiresDefaults: true, budgetOf })
  return {
    type: 'object',
    properties: {
      workflowId: { type: 'string' },
      runId: { type: 'string' },
      status: { type: 'string', description: '`completed`, `running`, or why there is no output' },
      output: reference ?? root,
      error: { type: 'object', description: 'Why the workflow did not complete, or the call was rejected' },
      note: { type: 'string', description: 'What to do next' },
      unexpectedOutput: { description: 'An output that does not match its schema' },
    },
    required: ['status'],
    ...inDefs(definitions),
  }
}

const PREFIX = '#/$defs/'

type Definitions = readonly [name: string, schema: ShownSchema][]

interface Shown {
  root: ShownSchema
  /** To the root, if it is one of the definitions because it refers to itself. */
  reference: ShownSchema | null
  /** What `root` refers to. They must be at the root of the document. */
  definitions: Definitions
}

/** The schema for hosts. */
function shown(
  published: JsonSchema,
  name: Direction,
  options: Pick<PublishTarget, 'budgetOf' | 'requiresDefaults'>,
): Shown {
  const components: Record<string, ShownSchema> = {}
  const target = { ...options, identifiers: createIdentifiers([name]), components, refPrefix: PREFIX }
  const first = publishSchema(published, name, target)
  for (const [key, component] of Object.entries(components)) components[key] = toHostSchema(component, name)
  const root = resolved(toHostSchema(first, name), components)
  const definitions = referencedFrom(root, components)
  const own = definitions.find(([, definition]) => definition === root)
  return { root, reference: own === undefined ? null : { $ref: `${PREFIX}${own[0]}` }, definitions }
}

function inDefs(definitions: Definitions): { $defs?: Record<string, ShownSchema> } {
  return definitions.length === 0 ? {} : { $defs: Object.fromEntries(definitions) }
}

/** Replaces a schema that is only a reference by its target: hosts do not resolve a reference at the root. */
function resolved(schema: ShownSchema, components: Readonly<Record<string, ShownSchema>>): ShownSchema {
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
function referencedFrom(
  schema: ShownSchema,
  components: Readonly<Record<string, ShownSchema>>,
): [string, ShownSchema][] {
  const used = new Map<string, ShownSchema>()
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

function isFlat(root: ShownSchema): boolean {
  if (root.type !== 'object' || NOT_AT_ROOT.some((keyword) => keyword in root)) return false
  const { properties = {}, required = [] } = root
  const keys = [...Object.keys(isObject(properties) ? properties : {}), ...(Array.isArray(required) ? required : [])]
  return keys.every((key) => HOST_KEY.test(String(key)))
}
