import type { Trace, WorkflowStatus } from '../../../../../client/responses.ts'
import { countText, fullTimeText } from '../format.ts'
import { CopyButton, Json, Time } from '../parts.tsx'
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
  const path = `workflow/${encodeURIComponent(status.workflowId)}/runs/${status.runId}`
  return (
    <section class="card about" aria-label="About this run">
      <h2>About this run</h2>
      <dl class="facts">
        <Fact name="Run id" value={<code>{status.runId}</code>} />
        <Fact name="Catalog" value={status.catalog} />
        {status.summary !== null && <Fact name="Summary" value={status.summary} />}
        {status.details !== null && <Fact name="Details" value={status.details} />}
        <Fact name="Started" value={fullTimeText(new Date(status.startedAt ?? 0).getTime())} />
        {status.completedAt !== null && (
          <Fact name="Ended" value={fullTimeText(new Date(status.completedAt).getTime())} />
        )}
        <Fact name="History" value={countText(status.historyLength, 'event')} />
        {trace !== null && <Fact name="Trace from" value={trace.source} />}
        {status.workerVersion !== null && <Fact name="Worker version" value={JSON.stringify(status.workerVersion)} />}
      </dl>
      {memo && <Json value={status.memo} label="Memo" />}
      {attributes && <Json value={status.searchAttributes} label="Search attributes" />}
      <div class="buttons">
        <CopyButton label="Copy as curl" text={() => curlOf('GET', `${path}/status`)} />
        <CopyButton label="Copy trace as curl" text={() => curlOf('GET', `${path}/trace-log`)} />
      </div>
    </section>
  )
}

function Fact({ name, value }: { name: string; value: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
