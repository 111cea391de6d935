/** Random requests about schedules. Each id has one, paused, whose workflow may be replaced. */
import type { Client } from '@temporalio/client'
import { outcomeOf } from '../../test/unit/service/access/oracle.ts'
import type { Random } from '../soak/random.ts'
import { CATALOG, IDS, WORKFLOWS } from './access-names.ts'
import type { AccessRequest } from './access-requests.ts'

export async function createSchedule(client: Client, scheduleId: string): Promise<void> {
  await client.schedule.create({
    scheduleId,
    spec: { intervals: [{ every: '1h' }] },
    action: { type: 'startWorkflow', workflowType: 'order', workflowId: scheduleId, taskQueue: CATALOG },
    state: { paused: true },
  })
}

/** The workflow of the schedule with this id. */
export async function scheduledBy(client: Client, scheduleId: string): Promise<string> {
  return (await client.schedule.getHandle(scheduleId).describe()).action.workflowType
}

const ON_SCHEDULE = [
  ['read', 'GET', ''],
  ['read', 'GET', '/times?from=2026-12-01T00:00:00Z&until=2026-12-02T00:00:00Z'],
  ['schedule', 'POST', '/pause'],
  ['schedule', 'POST', '/unpause'],
] as const

/** `run` has the workflow of the schedule. */
export function schedule({ pick }: Random, scheduleId: string): AccessRequest {
  const [verb, method, path] = pick<(typeof ON_SCHEDULE)[number]>(ON_SCHEDULE)
  return {
    ...{ method, path: `/schedules/${encodeURIComponent(scheduleId)}${path}`, workflowId: scheduleId, schedule: {} },
    ...(method === 'POST' && { body: {} }),
    expected: (rules, token, { workflowName }) =>
      outcomeOf(rules, token, [{ verb, workflowId: scheduleId, workflowName, options: [] }]),
  }
}

/** The runs of a schedule have ids that begin with that of the schedule, or with another. */
export function putSchedule(random: Random, scheduleId: string): AccessRequest {
  const [workflowName, workflowId] = [random.pick(WORKFLOWS), random.chance(0.7) ? scheduleId : random.pick(IDS)]
  const options = random.chance(0.3) ? ['memo'] : []
  const body = { workflowName, workflowId, input: 1, paused: true, when: { every: [{ interval: '1h' }] } }
  return {
    ...{ method: 'PUT', path: `/schedules/${encodeURIComponent(scheduleId)}`, workflowId: scheduleId },
    ...{ body: { ...body, ...(options.length > 0 && { memo: { a: 1 } }) }, schedule: { replaces: workflowName } },
    expected(rules, token, found) {
      const starts = { verb: 'start', workflowId: `${workflowId}-*`, workflowName, options, catalog: CATALOG }
      const of = (name: string) => ({ verb: 'schedule', workflowId: scheduleId, workflowName: name, options: [] })
      // What it starts is its own choice, so that only the schedule it replaces can be hidden.
      if (outcomeOf(rules, token, [starts, of(workflowName)]) !== 'reached') return 403
      return outcomeOf(rules, token, [of(found.workflowName)])
    },
  }
}
