import type { Trace, WorkflowStatus } from '../../../../../client/responses.ts'
import { runPath } from '../api.ts'
import { countText, fullTimeText } from '../format.ts'
import { CopyButton, Facts, Json, Time } from '../parts.tsx'
import { curlOf } from './curl.ts'

/** What activities report with their heartbeats. */
export function Progress({ status, now }: { status: WorkflowStatus; now: number }) {
  if (status.progress === null || status.progress.length === 0) return null
  return (
    <section class="card progress" aria-label="Progress">
      <h2>Progress</h2>
      {status.progress.map(({ activityId, activityType, details, heartbeatAt }) => {
        const percent = percentOf(details)
        return (
          <div key={activityId} class="report">
            <p>
              <strong>{activityType}</strong>{' '}
              <span class="quiet small">
                heartbeat <Time at={heartbeatAt} now={now} />
              </span>
            </p>
            {percent !== null && <progress max={100} value={percent} aria-label={`Progress of ${activityType}`} />}
            <code class="inline-json">{JSON.stringify(details)}</code>
          </div>
        )
      })}
    </section>
  )
}

function percentOf(details: unknown): number | null {
  const percent = typeof details === 'object' && details !== null && 'percent' in details ? details.percent : null
  return typeof percent === 'number' ? percent : null
}

/** Facts that are rarely needed. */
export function About({ status, trace }: { status: WorkflowStatus; trace: Trace | null }) {
  const memo = status.memo !== null && Object.keys(status.memo).length > 0
  const attributes = Object.keys(status.searchAttributes).length > 0
  const path = runPath(status)
  const facts: [string, unknown][] = [
    ['Run id', status.runId],
    ['Catalog', status.catalog],
    ['Summary', status.summary],
    ['Details', status.details],
    ['Started', fullTimeText(new Date(status.startedAt ?? 0).getTime())],
    ['Ended', status.completedAt && fullTimeText(new Date(status.completedAt).getTime())],
    ['History', countText(status.historyLength, 'event')],
    ['Source of the trace', trace?.source],
    ['Worker version', status.workerVersion],
  ]
  return (
    <section class="card about" aria-label="About this run">
      <h2>About this run</h2>
      <Facts facts={facts.filter(([, value]) => value != null)} />
      {memo && <Json value={status.memo} label="Memo" />}
      {attributes && <Json value={status.searchAttributes} label="Search attributes" />}
      <div class="buttons">
        <CopyButton label="Copy as curl" text={() => curlOf('GET', `${path}/status`)} />
        <CopyButton label="Copy trace as curl" text={() => curlOf('GET', `${path}/trace-log`)} />
      </div>
    </section>
  )
}
