import type { Call } from '../model/call.ts'
import type { CountCommand, ListCommand, RunPage } from '../model/commands.ts'
import { enginePage } from '../model/page-token.ts'
import type { RunCount } from '../model/run-filter.ts'
import type { Ports } from '../ports.ts'

type ListPorts = Pick<Ports, 'catalogs' | 'engine' | 'searchAttributes'>

/** One page of the runs that match the filter: open runs first, then the one that closed last. */
export async function listRuns(
  { engine, catalogs, searchAttributes }: ListPorts,
  { filter, ...page }: ListCommand,
  call: Call,
): Promise<RunPage> {
  return enginePage({ namespace: catalogs.namespace, runs: filter }, page, async (from) =>
    engine.listRuns(await searchAttributes.resolve(filter, call), from, call),
  )
}

/** How many runs match the filter: all together, and by status if `byStatus` is set. */
export async function countRuns(
  { engine, searchAttributes }: ListPorts,
  { filter, byStatus }: CountCommand,
  call: Call,
): Promise<RunCount> {
  return engine.countRuns(await searchAttributes.resolve(filter, call), byStatus, call)
}
