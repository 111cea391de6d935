/** Compares OpenAPI documents: what a client sends must still be accepted, what it reads must still be there. */
import { collect, compareByKey, type Difference, type Report } from './differences.ts'
import { type CompareSchemas, type Schema, schemaComparison } from './schemas.ts'

/** The parts of a document that are compared. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> }
}

interface Operation {
  operationId?: string
  security?: object[]
  parameters?: (Parameter | Reference)[]
  requestBody?: Body
  responses: Record<string, Response | Reference>
}

interface Reference {
  $ref: string
}

/** A part that is a component has its name. */
interface Part {
  component?: string
}

interface Parameter extends Part {
  name: string
  in: string
  required?: boolean
  schema: Schema
}

interface Body {
  required?: boolean
  content: Record<string, { schema: Schema }>
}

interface Response extends Part {
  headers?: Record<string, object>
  content?: Record<string, { schema: Schema; 'x-events'?: Record<string, Schema> }>
}

interface Tools {
  before: OpenApi
  now: OpenApi
  compareSchemas: CompareSchemas
  report: Report
}

export function compareOpenApi(before: OpenApi, now: OpenApi): Difference[] {
  return collect((report) => {
    const schemas = { before: before.components.schemas, now: now.components.schemas }
    const tools = { before, now, report, compareSchemas: schemaComparison(schemas, report) }
    const both = (one: Operation, other: Operation, name: string) => compareOperations(one, other, name, tools)
    compareByKey(operationsOf(before), operationsOf(now), { nameOf: (key) => key, both }, report)
  })
}

function operationsOf({ paths }: OpenApi): Record<string, Operation> {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  )
  return Object.fromEntries(operations)
}

function compareOperations(before: Operation, now: Operation, name: string, tools: Tools): void {
  const { report, compareSchemas } = tools
  if (before.operationId !== now.operationId)
    report({ breaks: true, name: `${name} operationId`, how: 'has another value, so generated clients change' })
  if (before.security?.length === 0 && now.security?.length !== 0)
    report({ breaks: true, name: `${name} security`, how: 'a credential is required' })
  compareByKey(
    parametersOf(before, tools.before),
    parametersOf(now, tools.now),
    {
      nameOf: (key) => `${name} ${key}`,
      isDemand: ({ required = false }) => required,
      both(one, other, place) {
        const name = componentOf(one, other) ?? place
        if (other.required && !one.required) report({ breaks: true, name, how: 'is required' })
        compareSchemas(one.schema, other.schema, name, 'request')
      },
    },
    report,
  )
  compareBodies(before, now, name, tools)
  const responses = {
    nameOf: (status: string) => `${name} ${status}`,
    both(one: Response, other: Response, place: string) {
      compareResponses(one, other, componentOf(one, other) ?? place, tools)
    },
  }
  compareByKey(responsesOf(before, tools.before), responsesOf(now, tools.now), responses, report)
}

function compareBodies(before: Operation, now: Operation, name: string, { report, compareSchemas }: Tools): void {
  if (now.requestBody?.required && !before.requestBody?.required)
    report({ breaks: true, name: `${name} body`, how: 'is required' })
  compareByKey(
    before.requestBody?.content,
    now.requestBody?.content,
    {
      nameOf: (type) => `${name} ${type}`,
      both: (one, other, place) => compareSchemas(one.schema, other.schema, place, 'request'),
    },
    report,
  )
}

function compareResponses(before: Response, now: Response, name: string, { report, compareSchemas }: Tools): void {
  const nameOf = (key: string) => `${name} ${key}`
  const schemas = (one: Schema, other: Schema, place: string) => compareSchemas(one, other, place, 'response')
  compareByKey(before.headers, now.headers, { nameOf, both() {} }, report)
  compareByKey(
    before.content,
    now.content,
    {
      nameOf,
      both(one, other, place) {
        schemas(one.schema, other.schema, place)
        compareByKey(
          one['x-events'],
          other['x-events'],
          { nameOf: (event) => `${name} event ${event}`, both: schemas },
          report,
        )
      },
    },
    report,
  )
}

function parametersOf({ parameters = [] }: Operation, document: OpenApi): Record<string, Parameter> {
  const resolved = parameters.map((parameter) => resolve<Parameter>(parameter, document))
  return Object.fromEntries(resolved.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]))
}

function responsesOf({ responses }: Operation, document: OpenApi): Record<string, Response> {
  const resolved = Object.entries(responses).map(([status, response]) => [
    status,
    resolve<Response>(response, document),
  ])
  return Object.fromEntries(resolved)
}

/** The component that a reference names. */
function resolve<T extends Part>(part: T | Reference, { components }: OpenApi): T {
  if (!('$ref' in part)) return part
  const [kind = '', component = ''] = part.$ref.split('/').slice(2)
  // The document was checked when it was created, so that the component is one of this kind.
  return { ...(components[kind]?.[component] as T), component }
}

function componentOf(before: Part, now: Part): string | undefined {
  return before.component === now.component ? now.component : undefined
}
