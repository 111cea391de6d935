import { isObject } from '../../lib/is-object.ts'
import { paint } from './paint.ts'
import { pairs, table } from './table.ts'
import { cellOf } from './value.ts'

/** The workflows of a catalog, with the names of their handlers. */
export function renderCatalog(catalog: unknown, columns: number): string {
  const workflows = isObject(catalog) && Array.isArray(catalog.workflows) ? catalog.workflows.filter(isObject) : []
  const name = isObject(catalog) ? cellOf(catalog.catalog) : ''
  if (workflows.length === 0) return `The catalog ${name} has no workflows.`
  const rows = workflows.map((workflow) => [
    paint('bold', [cellOf(workflow.name), ...stringsOf(workflow.aliases)].join(', ')),
    ...['signals', 'queries', 'updates'].map((kind) => namesOf(workflow[kind])),
    cellOf(workflow.description),
  ])
  const titles = ['Workflow', 'Signals', 'Queries', 'Updates', 'Description']
  return `${pairs([['Catalog', name]])}\n\n${table(titles, rows, columns)}`
}

function namesOf(handlers: unknown): string {
  return Array.isArray(handlers)
    ? handlers
        .filter(isObject)
        .map(({ name }) => cellOf(name))
        .join(', ')
    : ''
}

function stringsOf(values: unknown): string[] {
  return Array.isArray(values) ? values.map(cellOf) : []
}
