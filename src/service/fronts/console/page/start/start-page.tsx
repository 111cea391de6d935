import { useMay } from '../capabilities.ts'
import { type CatalogListing, useCatalog, workflowOf } from '../catalog.ts'
import { useTitle } from '../hooks.ts'
import { ErrorMessage, onText } from '../parts.tsx'
import { hrefOf } from '../route.ts'
import { useState } from '../ui.ts'
import { StartForm } from './start-form.tsx'

export function StartPage({ query }: { query: URLSearchParams }) {
  const catalog = query.get('catalog')
  const { listing, error } = useCatalog(catalog)
  const may = useMay()
  const name = query.get('workflow')
  const workflow = workflowOf(listing, name)
  useTitle(workflow === null ? 'Start' : `Start ${workflow.name}`)
  return (
    <main id="main" class={workflow === null ? 'start' : 'start chosen'}>
      <div class="page-title">
        <h1>Start a workflow</h1>
        {listing !== null && <span class="quiet small">Catalog: {listing.catalog}</span>}
      </div>
      {error !== null && <ErrorMessage error={error} />}
      {listing === null && error === null && <p class="quiet loading">Loading…</p>}
      {listing !== null && (
        <div class="start-grid">
          <Workflows listing={listing} chosen={workflow?.name ?? null} catalog={catalog} />
          <div class="start-main">
            {workflow !== null && may('start') && (
              <StartForm
                key={`${workflow.name} ${query.get('like')} ${query.get('likeRun')}`}
                mayRead={may('read')}
                workflow={workflow}
                listing={listing}
                like={query.get('like')}
                likeRun={query.get('likeRun')}
              />
            )}
            {workflow === null && name !== null && (
              <p class="warning">
                The catalog {listing.catalog} does not publish {name}.
              </p>
            )}
            {workflow === null && name === null && listing.workflows.length > 0 && (
              <p class="quiet choose">Choose a workflow.</p>
            )}
          </div>
        </div>
      )}
    </main>
  )
}

function Workflows({
  listing,
  chosen,
  catalog,
}: {
  listing: CatalogListing
  chosen: string | null
  catalog: string | null
}) {
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = listing.workflows.filter(({ name, description }) =>
    `${name} ${description ?? ''}`.toLowerCase().includes(wanted),
  )
  if (listing.workflows.length === 0)
    return (
      <div class="card empty">
        <h2>The catalog is empty</h2>
        <p class="quiet">A worker publishes its workflows when it starts.</p>
      </div>
    )
  return (
    <nav class="card workflows" aria-label="Workflows">
      {listing.workflows.length > 6 && (
        <label class="search">
          <span class="hidden">Search workflows</span>
          <input type="search" placeholder="Search" value={search} onInput={onText(setSearch)} />
        </label>
      )}
      <ul>
        {shown.map(({ name, description }) => (
          <li key={name}>
            <a href={hrefOf('start', { workflow: name, catalog })} aria-current={name === chosen ? 'page' : undefined}>
              <strong>{name}</strong>
              {description !== null && <span class="quiet small">{description}</span>}
            </a>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet small">No workflow matches.</p>}
    </nav>
  )
}
