import type { CatalogListing } from '../catalog.ts'
import { VERBATIM } from '../parts.tsx'
import { hrefOf, navigate } from '../route.ts'
import { useId, useState } from '../ui.ts'
import { filterOf, toLocal, toUtc, WORKFLOW_ID, withFilter } from './run-filter.ts'

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
  const isFiltered = [...filterOf(query)].some(([name]) => name !== 'status')
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter runs"
        onSubmit={(event: Event) => {
          event.preventDefault()
          const form = new FormData(event.target as HTMLFormElement)
          const changes = Object.fromEntries(
            [...form].map(([name, value]) => [name, toValue(name, String(value).trim())]),
          )
          navigate(hrefOf('runs', withFilter(query, changes)))
        }}
      >
        <div class="filter-row">
          <label>
            <span>Workflow</span>
            <input name="workflowName" list={`${id}names`} value={query.get('workflowName') ?? ''} autocomplete="off" />
          </label>
          <datalist id={`${id}names`}>
            {catalog?.workflows.map(({ name }) => (
              <option value={name} />
            ))}
          </datalist>
          <label>
            <span>Workflow id</span>
            <input name={WORKFLOW_ID} value={query.get(WORKFLOW_ID) ?? ''} {...VERBATIM} />
          </label>
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
              <label>
                <span>{label}</span>
                <input type="datetime-local" name={name} value={toLocal(query.get(name))} />
              </label>
            ))}
            <label>
              <span>Catalog</span>
              <input name="catalog" value={query.get('catalog') ?? ''} {...VERBATIM} />
            </label>
            <label class="wide">
              <span>Query, in Temporal’s list filter language</span>
              <input
                name="query"
                value={query.get('query') ?? ''}
                placeholder="WorkflowId STARTS_WITH 'order-'"
                {...VERBATIM}
              />
            </label>
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
