/** `portico list` and `count`. */
import { filterQuery } from '../../client/pages.ts'
import type { RunFilter } from '../../client/responses.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { UsageError } from '../failures.ts'
import { readInteger } from '../flags/number-flags.ts'
import { type CountedRuns, renderCount, renderRuns } from '../output/lists.ts'
import type { Settings } from '../settings.ts'

export interface FilterFlags extends CommonFlags {
  workflow?: string
  status?: string
  problem?: boolean
  startedAfter?: string
  startedBefore?: string
  closedAfter?: string
  closedBefore?: string
  attribute?: string[]
  query?: string
}

export async function list(flags: FilterFlags & { pageSize?: string; pageToken?: string }): Promise<void> {
  await callService(flags, async ({ client, settings, signal, columns, show }) => {
    const { pageSize, pageToken } = flags
    const page = await client
      .list({
        ...filterOf(flags, settings),
        ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
        ...(pageToken !== undefined && { pageToken }),
        signal,
        timeoutMs: READ_TIMEOUT_MS,
      })
      .page()
    return show(page, ({ runs, nextPageToken }) => renderRuns(runs, nextPageToken, columns))
  })
}

export async function count(flags: FilterFlags & { groupBy?: string }): Promise<void> {
  await callService(flags, async ({ client, settings, signal, show }) => {
    const query = { ...filterQuery(filterOf(flags, settings)), groupBy: flags.groupBy }
    const counted = await client.request('GET', '/workflow/runs/count', { query, signal, timeoutMs: READ_TIMEOUT_MS })
    return show(counted as CountedRuns, renderCount)
  })
}

/** The service checks it. */
export function filterOf(flags: FilterFlags, { catalog }: Settings): RunFilter {
  const { workflow, attribute, status, problem, startedAfter, startedBefore, closedAfter, closedBefore, query } = flags
  return {
    ...omitUndefined({ status, problem, startedAfter, startedBefore, closedAfter, closedBefore, query }),
    ...(workflow !== undefined && { workflowName: workflow }),
    ...(catalog !== null && { catalog }),
    ...(attribute !== undefined && { searchAttributes: Object.fromEntries(attribute.map(attributeOf)) }),
  } as RunFilter
}

function omitUndefined(fields: Record<string, string | boolean | undefined>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function attributeOf(flag: string): [name: string, value: string] {
  const at = flag.indexOf('=')
  if (at < 1) throw new UsageError(`--attribute ${flag}: must have the form <name>=<value>`)
  return [flag.slice(0, at), flag.slice(at + 1)]
}
