/** `portico list`. */
import type { ListOptions } from '../../client/client.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { UsageError } from '../failures.ts'
import { readInteger } from '../flags/number-flags.ts'
import { renderRuns } from '../output/run.ts'

export interface ListFlags extends CommonFlags {
  workflow?: string
  status?: string
  startedAfter?: string
  startedBefore?: string
  closedAfter?: string
  closedBefore?: string
  attribute?: string[]
  query?: string
  pageSize?: string
  pageToken?: string
}

export async function list(flags: ListFlags): Promise<void> {
  await callService(flags, async ({ client, settings, signal, show }) => {
    const { workflow, attribute, pageSize, json: _json, url: _url, token: _token, catalog: _catalog, ...more } = flags
    const options = {
      ...more,
      ...(workflow !== undefined && { workflowName: workflow }),
      ...(settings.catalog !== null && { catalog: settings.catalog }),
      ...(attribute !== undefined && { searchAttributes: Object.fromEntries(attribute.map(attributeOf)) }),
      ...(pageSize !== undefined && { pageSize: readInteger('--page-size', pageSize) }),
      signal,
      timeoutMs: READ_TIMEOUT_MS,
    }
    // The service checks it.
    const page = await client.list(options as ListOptions).page()
    return show(page, ({ runs, nextPageToken }) => renderRuns(runs, nextPageToken))
  })
}

function attributeOf(flag: string): [name: string, value: string] {
  const at = flag.indexOf('=')
  if (at < 1) throw new UsageError(`--attribute ${flag}: must have the form <name>=<value>`)
  return [flag.slice(0, at), flag.slice(at + 1)]
}
