/** The body of a start of a standalone activity. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { POLICY_LIMITS } from '../../../../shared/access/policy-verbs.ts'
import type { StartActivityCommand } from '../../../model/activity-commands.ts'
import type { Env } from '../../context.ts'
import type { RequestBody } from '../../endpoint.ts'
import { jsonForms, optional } from './json-forms.ts'
import { activityCatalog, activityName, workflowId } from './names.ts'
import { rawPayloads } from './raw-payloads.ts'
import { timeout } from './repair-fields.ts'
import { inputOrList, inputOrListForm, oneOf, optionFields, startCommand, startFields } from './start-fields.ts'

const { searchAttributes, headers, startDelay, retry, priority, summary, details } = optionFields

function activityFields(maxTimeoutMs: number) {
  const { input, timeout: wait } = startFields(maxTimeoutMs, 'args')
  return {
    activityName,
    input,
    args: optional(z.array(z.unknown()), 'Instead of `input`: one element per argument; `[]` for none'),
    payloads: rawPayloads('`input` and `args`'),
    activityId: optional(workflowId, 'Id of the activity. At most 1000 bytes of UTF-8. Default: a generated id'),
    catalog: optional(
      activityCatalog,
      'Task queue of the workers that execute the activity. Default: that of the service',
    ),
    timeout: wait,
    startToCloseTimeout: timeout('Limit for each attempt. Default: `scheduleToCloseTimeout`, or 1 m without it'),
    scheduleToCloseTimeout: timeout('Limit for all attempts together. Default 24 h'),
    scheduleToStartTimeout: timeout('How long an attempt may wait for a worker'),
    heartbeatTimeout: timeout('Maximum time between two heartbeats'),
    ...{ searchAttributes, headers, startDelay, retry, priority, summary, details },
    activityIdConflictPolicy: optional(
      oneOf(['fail', 'use-existing']),
      'What to do if a run of `activityId` is open. Default `fail`',
    ),
    activityIdReusePolicy: optionFields.workflowIdReusePolicy,
  }
}

export const activityRequest = {
  name: 'StartActivityRequest',
  schema: (maxTimeoutMs: number) =>
    z
      .strictObject(activityFields(maxTimeoutMs))
      .check(inputOrList('args'))
      .register(jsonForms, inputOrListForm('args', [])),
  isRequired: true,
} satisfies RequestBody<unknown>

export type ActivityBody = z.output<z.ZodMiniObject<ReturnType<typeof activityFields>>>

const MINUTE_MS = 60_000

/** Without an end, the engine would retry an activity that no worker has for ever. */
const DAY_MS = 24 * 60 * MINUTE_MS

export function activityCommand(c: Context<Env>, body: ActivityBody, defaultCatalog: string): StartActivityCommand {
  const { activityName, activityId, activityIdConflictPolicy: conflict, activityIdReusePolicy: reuse, ...rest } = body
  const {
    startToCloseTimeout,
    scheduleToCloseTimeout: total,
    scheduleToStartTimeout,
    heartbeatTimeout,
    ...start
  } = rest
  const named = {
    ...start,
    workflowName: activityName,
    ...(conflict && { workflowIdConflictPolicy: conflict }),
    ...(reuse && { workflowIdReusePolicy: reuse }),
  }
  const { workflowName: _, ...command } = startCommand(c, named, defaultCatalog, 'args')
  return {
    ...command,
    activityName,
    ...(activityId !== undefined && { activityId }),
    givenLimits: POLICY_LIMITS.filter((name) => body[name] !== undefined),
    limits: {
      startToCloseTimeoutMs: startToCloseTimeout ?? total ?? MINUTE_MS,
      scheduleToCloseTimeoutMs: total ?? Math.max(DAY_MS, startToCloseTimeout ?? 0),
      ...(scheduleToStartTimeout !== undefined && { scheduleToStartTimeoutMs: scheduleToStartTimeout }),
      ...(heartbeatTimeout !== undefined && { heartbeatTimeoutMs: heartbeatTimeout }),
    },
  }
}
