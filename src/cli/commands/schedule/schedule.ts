/** `portico schedule`. */
import type { ScheduleDocument, SchedulePage, Schedules } from '../../../client/requests/schedules.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../../command.ts'
import { readObjectArgument } from '../../flags/json-argument.ts'
import { readInteger } from '../../flags/number-flags.ts'
import { cellOf, table, timeCell } from '../../output/table.ts'
import { jsonForTerminal, paint } from '../../output/terminal.ts'

interface Options {
  signal: AbortSignal
  timeoutMs: number
}

/** Commands take the id of the schedule and the flags. */
function onSchedule<Body, Flags>(
  send: (schedules: Schedules, id: string, options: Options, flags: Flags) => Promise<Body>,
  render: (body: Body, id: string) => string,
) {
  return (id: string, flags: CommonFlags & Flags): Promise<void> =>
    callService(flags, async ({ client, signal, show }) => {
      const body = await send(client.schedules, id, { signal, timeoutMs: READ_TIMEOUT_MS }, flags)
      return show(body, (shown) => render(shown, cellOf(id)))
    })
}

interface RangeFlags {
  from: string
  until: string
}

interface OverlapFlags {
  overlap?: NonNullable<Parameters<Schedules['trigger']>[1]>['overlap']
}

const withOverlap = ({ overlap }: OverlapFlags) => (overlap === undefined ? {} : { overlap })
const withReason = ({ reason }: { reason?: string }) => (reason === undefined ? {} : { reason })

export const SCHEDULE_COMMANDS = {
  put: onSchedule(
    async (schedules, id, options, flags: { file: string; ifMatch?: string; create?: boolean }) => {
      const document = await readObjectArgument('--file', `@${flags.file}`, options.signal)
      return schedules.put(id, document as unknown as ScheduleDocument, {
        ...options,
        ifMatch: flags.create ? null : flags.ifMatch,
      })
    },
    ({ version, info: { next } }, id) =>
      `Schedule ${id} has version ${cellOf(version)}${next[0] === undefined ? '.' : ` and acts next at ${timeCell(next[0])} UTC.`}`,
  ),
  get: onSchedule((schedules, id, options) => schedules.get(id, options), jsonForTerminal),
  rm: onSchedule(
    (schedules, id, options) => schedules.delete(id, options),
    (_, id) => `Schedule ${id} is deleted; its runs go on.`,
  ),
  pause: onSchedule(
    (schedules, id, options, flags: { reason?: string }) => schedules.pause(id, { ...options, ...withReason(flags) }),
    (_, id) => `Schedule ${id} is paused.`,
  ),
  unpause: onSchedule(
    (schedules, id, options, flags: { reason?: string }) => schedules.unpause(id, { ...options, ...withReason(flags) }),
    (_, id) => `Schedule ${id} is not paused.`,
  ),
  trigger: onSchedule(
    (schedules, id, options, flags: OverlapFlags) => schedules.trigger(id, { ...options, ...withOverlap(flags) }),
    (_, id) => `The engine has accepted a run of schedule ${id}.`,
  ),
  backfill: onSchedule(
    (schedules, id, options, { from, until, ...flags }: OverlapFlags & RangeFlags) =>
      schedules.backfill(id, { ...options, from, until, ...withOverlap(flags) }),
    (_, id) => `The engine has accepted the runs of schedule ${id}.`,
  ),
  times: onSchedule(
    (schedules, id, options, { from, until }: RangeFlags) => schedules.times(id, { ...options, from, until }),
    ({ times, complete }) =>
      [...times.map(cellOf), ...(complete ? [] : [paint('dim', 'There may be more: the list has at most 1000.')])].join(
        '\n',
      ) || 'No times.',
  ),
}

interface ListFlags extends CommonFlags {
  paused?: boolean
  query?: string
  pageSize?: string
  pageToken?: string
}

export async function listSchedules(flags: ListFlags): Promise<void> {
  await callService(flags, async ({ client, signal, columns, show }) => {
    const { paused, query, pageSize, pageToken } = flags
    const page = await client.schedules
      .list({
        paused,
        query,
        pageToken,
        ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
        signal,
        timeoutMs: READ_TIMEOUT_MS,
      })
      .page()
    return show(page, (shown) => renderSchedules(shown, columns))
  })
}

function renderSchedules({ schedules, nextPageToken }: SchedulePage, columns: number): string {
  const more = nextPageToken === null ? [] : [`More: --page-token ${cellOf(nextPageToken)}`]
  if (schedules.length === 0) return ['No schedules.', ...more].join('\n\n')
  const rows = schedules.map(({ scheduleId, workflowName, paused, next, note }) => [
    cellOf(scheduleId),
    cellOf(workflowName),
    paused ? paint('yellow', 'paused') : timeCell(next[0]),
    cellOf(note),
  ])
  return [table(['Id', 'Workflow', 'Next (UTC)', 'Note'], rows, columns), ...more].join('\n\n')
}
