/** 260 workflows with names and schemas that hosts reject, or read in different ways. */
import type { RawCatalog } from './hostile-catalogs.ts'

export interface HostileWorkflow {
  name: string
  inputSchema: unknown
  outputSchema: unknown
}

export function hostileWorkflows(): HostileWorkflow[] {
  return hostileNames().map((name, index) => ({
    name,
    inputSchema: SCHEMAS[index % SCHEMAS.length],
    outputSchema: SCHEMAS[(index + 3) % SCHEMAS.length],
  }))
}

/** A catalog of them. */
export function hostileWorkflowsOf(catalog: string): RawCatalog {
  const workflows = hostileWorkflows()
  return {
    catalog,
    definition: JSON.stringify({ workflows }),
    workflowNames: JSON.stringify(Object.fromEntries(workflows.map(({ name }) => [name, name]))),
  }
}

function hostileNames(): string[] {
  const special = [
    'a b',
    'a.b',
    'a_b',
    'a/b',
    '日本語',
    '__proto__',
    'toString',
    'x'.repeat(900),
    '-',
    '0',
    'a b c8687a08',
  ]
  const similar = ['a_b_c8687a08', 'Workflow', 'result', 'ünïcödé', 'emoji 🎉', '../..', '<b>', '"', "'", '\\', '%2F']
  const many = Array.from({ length: 260 - special.length - similar.length }, (_, index) => `work flow ${index}`)
  return [...special, ...similar, ...many]
}

const SCHEMAS: readonly unknown[] = [
  null,
  { type: 'object', properties: { name: { type: 'string' } } },
  { anyOf: [{ type: 'object' }, { type: 'string' }] },
  { type: 'object', properties: { 'not a key': {} }, required: ['not a key'] },
  { $ref: '#/$defs/missing' },
  { type: 'object', properties: { pattern: { type: 'string', pattern: '(' } } },
  { $ref: 'https://example.com/schema.json' },
  { type: ['object', 'null'], if: { required: ['a'] }, else: { required: ['b'] } },
  { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: { items: { $ref: '#/definitions/a' } } } },
  { type: 'what', required: 'all', minimum: 'one' },
  false,
]
