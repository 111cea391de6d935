import type { ListedRun } from '../../../../../client/responses.ts'
import { isOpen, STATUSES } from '../../../../../shared/wire/execution.ts'
import type { RunCount } from '../../../../model/run-filter.ts'
import { useMay } from '../capabilities.ts'
import { useCatalog } from '../catalog.ts'
import { clockText } from '../format.ts'
import { useNow, useTitle } from '../hooks.ts'
import { Elapsed, ErrorMessage, StatusPill, statusText, Tab, Time } from '../parts.tsx'
import { hrefOf, runHref } from '../route.ts'
import { useState } from '../ui.ts'
import { Filters } from './filters.tsx'
import { filterOfQuery, withFilter } from './run-filter.ts'
import { useRuns } from './use-runs.ts'

export function RunsPage({ query }: { query: URLSearchParams }) {
  const filter = filterOfQuery(query)
  const [isLive, setLive] = useState(true)
  const list = useRuns(filter.toString(), isLive)
  const { runs, count, stuck, error, updatedAt } = list
  const { listing: catalog } = useCatalog(null)
  const now = useNow(runs?.some(({ status }) => isOpen(status)) ? 1000 : 30_000)
  useTitle('Runs')
  return (
    <main id="main" aria-busy={String(updatedAt === null && error === null)}>
      <div class="page-title">
        <h1>Runs</h1>
        <div class="live">
          <button type="button" class="ghost" aria-pressed={String(isLive)} onClick={() => setLive(!isLive)}>
            <span class={isLive && error === null ? 'dot live-dot' : 'dot'} aria-hidden="true" />
            Live
          </button>
          {updatedAt !== null && <span class="quiet small">Updated {clockText(updatedAt)}</span>}
        </div>
      </div>
      <StatusTabs query={query} count={count} stuck={stuck} />
      <Filters key={filter.toString()} query={query} catalog={catalog} />
      {error !== null && <ErrorMessage error={error} retry={list.retry} />}
      {runs !== null && runs.length > 0 && <RunTable runs={runs} now={now} />}
      {runs === null && error === null && <p class="quiet loading">Loading…</p>}
      {runs?.length === 0 && error === null && <NoRuns isFiltered={filter.size > 0} />}
      {list.nextPageToken !== null && runs !== null && runs.length > 0 && (
        <p class="more-runs">
          <button type="button" class="secondary" onClick={list.loadMore} disabled={list.isLoadingMore}>
            {list.isLoadingMore ? 'Loading…' : 'Load more'}
          </button>
        </p>
      )}
    </main>
  )
}

/** How many runs there are of each status, as links that filter the list. */
function StatusTabs({ query, count, stuck }: { query: URLSearchParams; count: RunCount | null; stuck: number | null }) {
  const chosen = query.get('status')
  const isStuck = query.get('problem') === 'true'
  const counts = new Map(count?.groups.map((group) => [group.status, group.count]))
  const shown = STATUSES.filter((status) => counts.has(status) || status === chosen)
  return (
    <nav class="tabs" aria-label="Runs by status">
      <Tab
        label="All"
        count={count?.count ?? null}
        href={hrefOf('runs', withFilter(query, { status: null, problem: null }))}
        isCurrent={chosen === null && !isStuck}
      />
      {shown.map((status) => (
        <Tab
          key={status}
          label={statusText(status)}
          kind={status}
          count={counts.get(status) ?? 0}
          href={hrefOf('runs', withFilter(query, { status, problem: null }))}
          isCurrent={chosen === status}
        />
      ))}
      {(Number(stuck) > 0 || isStuck) && (
        <Tab
          label="Stuck"
          kind="stuck"
          count={stuck}
          href={hrefOf('runs', withFilter(query, { status: null, problem: 'true' }))}
          isCurrent={isStuck}
        />
      )}
    </nav>
  )
}

function RunTable({ runs, now }: { runs: ListedRun[]; now: number }) {
  return (
    <div class="card table-card">
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Workflow</th>
            <th scope="col">Workflow id</th>
            <th scope="col">Started</th>
            <th scope="col" class="right">
              Duration
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.runId}>
              <td class="status-cell">
                <StatusPill status={run.status} />
                {run.problem && (
                  <span class="badge stuck" title="The code of the workflow fails, so the run makes no progress">
                    Stuck
                  </span>
                )}
              </td>
              <td class="name-cell">{run.workflowName}</td>
              <td class="id-cell">
                <a class="id" href={runHref(run.workflowId, run.runId)}>
                  {run.workflowId}
                </a>
              </td>
              <td class="time-cell">
                <Time at={run.startedAt} now={now} />
              </td>
              <td class="duration-cell right">
                <Elapsed from={run.startedAt} to={run.completedAt} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  const mayStart = useMay()('start')
  return (
    <div class="card empty">
      <h2>{isFiltered ? 'No run matches these filters' : 'No runs yet'}</h2>
      <p class="quiet">
        {isFiltered ? 'A run appears here a moment after it has started.' : 'A run is one execution of a workflow.'}
      </p>
      {(isFiltered || mayStart) && (
        <a class={isFiltered ? 'button secondary' : 'button primary'} href={hrefOf(isFiltered ? 'runs' : 'start')}>
          {isFiltered ? 'Show all runs' : 'Start a workflow'}
        </a>
      )}
    </div>
  )
}
