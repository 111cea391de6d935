/** Random requests about standalone activities. Each id has an open one, of a type that changes when it is ended. */
import type { Client } from '@temporalio/client'
import { activityOutcome, type OracleRule, type OracleScope, outcomeOf } from '../../test/unit/service/access/oracle.ts'
import { mayGenerate } from '../../test/unit/service/access/oracle-id.ts'
import type { Random } from '../soak/random.ts'
import { ACTIVITIES, CATALOG, HANDLERS } from './access-names.ts'
import type { AccessRequest } from './access-requests.ts'

export interface Standalone {
  activityId: string
  runId: string
  activityName: string
  isOpen: boolean
}

/** The open activity of the id. */
export async function openActivity(client: Client, { pick }: Random, activityId: string): Promise<Standalone> {
  const options = { id: activityId, taskQueue: CATALOG, scheduleToCloseTimeout: '1h', args: [] } as const
  await client.activity.start(pick(ACTIVITIES), { ...options, idConflictPolicy: 'USE_EXISTING' })
  return describeActivity(client, activityId)
}

export async function describeActivity(client: Client, activityId: string): Promise<Standalone> {
  const {
    activityRunId: runId,
    activityType: activityName,
    status,
  } = await client.activity.getHandle(activityId).describe()
  return { activityId, runId, activityName, isOpen: status === 'RUNNING' }
}

const ON_STANDALONE = [
  ['GET', 'status'],
  ['GET', 'result'],
  ['PATCH', 'stop'],
  ['POST', 'terminate'],
  ['POST', 'complete'],
  ['POST', 'fail', { message: 'Failed', retryable: false }],
  ['POST', 'heartbeat'],
] as const satisfies Row[]
type Row = readonly [method: string, path: string, body?: object]

/** Rules for some workflows are about no activity. */
export function mayUseType(
  rules: OracleRule[],
  token: OracleScope | null,
  handler: string,
  more: { workflowId?: string; catalog?: string; options?: string[] } = {},
): boolean {
  return outcomeOf(rules, token, [needed(handler, more)]) === 'reached'
}

const needed = (handler: string, more: object) => ({
  verb: 'activity',
  handler,
  workflowName: '',
  options: [],
  ...more,
})

/** `workflowName` of the run is the type of the activity. */
export function onStandalone({ pick, chance }: Random, workflowId: string): AccessRequest {
  const [method, path, body = {}] = pick<Row>(ON_STANDALONE)
  const base = `/activity/${encodeURIComponent(workflowId)}${chance(0.3) ? '/runs/:run' : ''}`
  return {
    ...{ method, path: `${base}/${path}`, workflowId, isStandalone: true },
    ...(method !== 'GET' && { body }),
    expected: (rules, token, { workflowName }) =>
      activityOutcome(HANDLERS, workflowName, (type) =>
        mayUseType(rules, token, type, { workflowId }) ? 'reached' : 403,
      ),
  }
}

export function startStandalone({ pick, chance }: Random, workflowId: string): AccessRequest {
  const [activityName, isGenerated] = [pick(ACTIVITIES), chance(0.3)]
  const options = chance(0.3) ? ['summary'] : []
  const more = { catalog: CATALOG, options }
  return {
    ...{ method: 'POST', path: `/activity/${pick(['run', 'start'])}`, workflowId, isStandalone: true },
    body: {
      ...{ activityName, input: 1, timeout: '1ms', ...(!isGenerated && { activityId: workflowId }) },
      ...(options.length > 0 && { summary: 'a' }),
    },
    expected(rules, token) {
      const ofAll = rules.filter((rule) => mayUseType([rule], token, activityName))
      const may = isGenerated
        ? mayGenerate(ofAll, token, [needed(activityName, more)])
        : mayUseType(rules, token, activityName, { workflowId, ...more })
      return may ? 'reached' : 403
    },
    mayHave: (rules, token, id) => mayUseType(rules, token, activityName, { workflowId: id, ...more }),
  }
}

export function listStandalone(_: Random, workflowId: string): AccessRequest {
  return {
    ...{ method: 'GET', path: '/activity/runs?pageSize=1000', workflowId, isStandalone: true },
    expected: (rules, token) => (HANDLERS.some((type) => mayUseType(rules, token, type)) ? 'reached' : 403),
  }
}
