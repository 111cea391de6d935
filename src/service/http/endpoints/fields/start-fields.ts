import type { Context } from 'hono'
import * as z from 'zod/mini'
import { isObject } from '../../../../shared/lib/json.ts'
import type { StartCommand } from '../../../model/commands.ts'
import type { Env } from '../../context.ts'
import type { RequestBody } from '../../endpoint.ts'
import { idempotencyKey } from '../../pipeline/idempotency-key.ts'
import { announceDeprecation } from '../../response.ts'
import { type Alternatives, fieldsIn, pairsOf } from './alternatives.ts'
import { durationField } from './field-values.ts'
import { deprecated, jsonForms, optional } from './json-forms.ts'
import { catalogName, requiredText, workflowId, workflowName } from './names.ts'
import { rawPayloads } from './raw-payloads.ts'
import {
  compatibleOptions,
  OPTION_CONFLICTS,
  type OptionFields,
  optionFields,
  toWorkflowOptions,
} from './workflow-options.ts'

/** The body fields that start a workflow. */
export function startFields(maxTimeoutMs: number, listKey: ListKey) {
  return {
    workflowName,
    input: optional(
      z.unknown(),
      `The workflow's only argument. Exactly one of \`input\`, \`${listKey}\` and \`${RAW_KEY[listKey]}\` is required`,
    ),
    workflowId: optional(workflowId, 'Id of the workflow. At most 1000 bytes of UTF-8. Default: a generated id'),
    catalog: optional(catalogName, 'Task queue of the workers that execute the workflow. Default: that of the service'),
    taskQueue: deprecated(catalogName, 'Deprecated name of `catalog`, which takes precedence'),
    timeout: optional(
      durationField(maxTimeoutMs),
      'How long to wait for the result: milliseconds, or a duration such as `30s`. Default 30 s',
    ),
    ...optionFields,
  }
}

/**
 * The key of the argument list, the alternative to `input`: `startArgs` in requests where `args` belongs to a handler.
 */
type ListKey = 'args' | 'startArgs'

/** The key of the encoded arguments: `payloads` are those of the handler where there is one. */
const RAW_KEY = { args: 'payloads', startArgs: 'inputPayloads' } as const

const keysOf = (listKey: ListKey): Alternatives => ['input', listKey, RAW_KEY[listKey]]

export function inputOrList(listKey: ListKey) {
  return z.refine<object>((body) => fieldsIn(body, keysOf(listKey)).length === 1, {
    message: `must contain either input (one argument) or ${listKey} (an array with one element per argument)`,
    // Reported together with the issues of single fields.
    when: ({ value }) => isObject(value),
  })
}

const runStream = z.strictObject({
  topics: optional(z.array(requiredText), 'Only the items of these topics. Default: all'),
  format: optional(z.literal('ui-message'), '`ui-message`: the UI message stream of the AI SDK, without other events'),
})

/** The body of `run`, `start` and `validate`. */
export const startRequest = {
  name: 'StartRequest',
  schema: (maxTimeoutMs: number) =>
    z
      .strictObject({
        ...startFields(maxTimeoutMs, 'args'),
        args: optional(z.array(z.unknown()), 'Instead of `input`: one element per argument; `[]` for none'),
        payloads: rawPayloads('`input` and `args`'),
        stream: optional(runStream, 'Only for `run` as events: also sends what the workflow publishes'),
      })
      .check(inputOrList('args'), compatibleOptions)
      .register(jsonForms, inputOrListForm('args', OPTION_CONFLICTS)),
  isRequired: true,
} satisfies RequestBody<unknown>

/** `inputOrList` as JSON Schema, together with other conflicts. */
export function inputOrListForm(listKey: ListKey, conflicts: readonly object[]) {
  const keys = keysOf(listKey)
  return {
    if: { anyOf: [{ required: ['input'] }, { required: [RAW_KEY[listKey]] }] },
    else: { required: [listKey] },
    not: { anyOf: [...pairsOf(keys), ...conflicts] },
  }
}

interface StartBody extends OptionFields {
  workflowName: string
  workflowId?: string
  catalog?: string
  taskQueue?: string
  input?: unknown
  args?: unknown[]
  startArgs?: unknown[]
  payloads?: unknown[]
  inputPayloads?: unknown[]
}

/** The catalog is `catalog`, or its deprecated name `taskQueue`, or the default. */
export function startCommand(c: Context<Env>, body: StartBody, defaultCatalog: string, listKey: ListKey): StartCommand {
  const { workflowId, workflowName, taskQueue, catalog = taskQueue ?? defaultCatalog } = body
  if (taskQueue !== undefined) announceDeprecation(c, TASK_QUEUE)
  const options = toWorkflowOptions(body)
  return {
    ...(workflowId !== undefined && { workflowId }),
    workflowName,
    catalog,
    ...(options && { options }),
    ...idempotencyKey(c),
    ...startArguments(body, listKey),
  }
}

function startArguments(body: StartBody, listKey: ListKey): Pick<StartCommand, 'args' | 'argumentPointer'> {
  if ('input' in body) return { args: [body.input], argumentPointer: '/input' }
  const { [RAW_KEY[listKey]]: payloads = [], [listKey]: given = [] } = body
  const args = payloads.length === 0 ? given : payloads
  return { args, argumentPointer: args.length === 0 ? '/input' : `/${listKey}/0` }
}

// Deprecated since the day on which the specification replaced it with `catalog`.
const TASK_QUEUE = { name: 'taskQueue', since: '2026-01-01' }
