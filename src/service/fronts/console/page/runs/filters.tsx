import type { CatalogListing } from '../catalog.ts'
import { toLocal, toUtc } from '../format.ts'
import { Input, submitting } from '../parts.tsx'
import { hrefOf, navigate } from '../route.ts'
import { useId, useState } from '../ui.ts'
import { filterOfQuery, WORKFLOW_ID, withFilter } from './run-filter.ts'

const TIMES = [
  ['startedAfter', 'Started after'],
  ['startedBefore', 'Started before'],
  ['closedAfter', 'Closed after'],
  ['closedBefore', 'Closed before'],
] as const

/** The filters of the list. Their names are those of the API. */
export function Filters({ query, catalog }: { query: URLSearchParams; catalog: CatalogListing | null }) {
  const id = useId()
  const hidden = [...TIMES.map(([name]) => name), 'query', 'catalog'].filter((name) => query.has(name))
  const [isOpen, setOpen] = useState(hidden.length > 0)
  const member = (name: string) => ({ name, value: query.get(name) ?? '' })
  const isFiltered = [...filterOfQuery(query)].some(([name]) => name !== 'status')
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter runs"
        onSubmit={submitting((form) => {
          const changes = Object.fromEntries(
            [...form].map(([name, value]) => [name, toValue(name, String(value).trim())]),
          )
          navigate(hrefOf('runs', withFilter(query, changes)))
        })}
      >
        <div class="filter-row">
          <Input label="Workflow" {...member('workflowName')} list={`${id}names`} />
          <datalist id={`${id}names`}>
            {catalog?.workflows.map(({ name }) => (
              <option value={name} />
            ))}
          </datalist>
          <Input label="Workflow id" {...member(WORKFLOW_ID)} />
          <div class="buttons">
            <button type="submit" class="secondary">
              Apply
            </button>
            <button type="button" class="ghost" aria-expanded={String(isOpen)} onClick={() => setOpen(!isOpen)}>
              {isOpen ? 'Fewer filters' : 'More filters'}
            </button>
            {isFiltered && (
              <a class="ghost button" href={hrefOf('runs', { status: query.get('status') })}>
                Clear
              </a>
            )}
          </div>
        </div>
        {isOpen && (
          <div class="filter-row more">
            {TIMES.map(([name, label]) => (
              <Input label={label} type="datetime-local" name={name} value={toLocal(query.get(name))} />
            ))}
            <Input label="Catalog" {...member('catalog')} />
            <div class="wide">
              <Input
                label="Query, in Temporal’s list filter language"
                {...member('query')}
                placeholder="WorkflowId STARTS_WITH 'order-'"
              />
            </div>
          </div>
        )}
      </form>
    </search>
  )
}

function toValue(name: string, value: string): string | null {
  if (value === '') return null
  return TIMES.some(([time]) => time === name) ? toUtc(value) : value
}
