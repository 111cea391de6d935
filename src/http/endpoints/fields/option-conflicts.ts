/** Options of a start that exclude each other. */
import * as z from 'zod/mini'
import { isObject } from '../../../lib/is-object.ts'
import { memoKeys } from '../../../protocol/memo-keys.ts'
import type { OptionFields } from './workflow-options.ts'

type Body = OptionFields & { workflowName: string }

interface Conflict {
  path: string[]
  message: string
}

function optionConflicts({ workflowName, memo = {}, ...options }: Body): Conflict[] {
  const { cronSchedule, startDelay, workflowIdConflictPolicy, workflowIdReusePolicy } = options
  const reserved = memoKeys(workflowName).filter((key) => Object.hasOwn(memo, key))
  return [
    ...reserved.map((key) => ({ path: ['memo', key], message: 'is reserved' })),
    ...(cronSchedule !== undefined && startDelay !== undefined
      ? [{ path: ['startDelay'], message: 'must not be combined with cronSchedule' }]
      : []),
    ...(workflowIdConflictPolicy === 'terminate-existing' && workflowIdReusePolicy === 'reject-duplicate'
      ? [{ path: ['workflowIdReusePolicy'], message: 'must not be reject-duplicate with terminate-existing' }]
      : []),
  ]
}

/**
 * Options that delay the first workflow task cannot be used with an update-with-start, whose update waits for that
 * task.
 */
function updateConflicts({ cronSchedule, startDelay, workflowIdConflictPolicy }: Body): Conflict[] {
  const message = 'is not supported with update-with-start'
  return [
    ...(cronSchedule === undefined ? [] : [{ path: ['cronSchedule'], message }]),
    ...(startDelay === undefined ? [] : [{ path: ['startDelay'], message }]),
    ...(workflowIdConflictPolicy === 'terminate-existing'
      ? [{ path: ['workflowIdConflictPolicy'], message: 'must be use-existing or fail' }]
      : []),
  ]
}

/** A signal-with-start uses an open run, because the engine always sends the signal to it. */
function signalConflicts({ workflowIdConflictPolicy = 'use-existing' }: Body): Conflict[] {
  if (workflowIdConflictPolicy === 'use-existing') return []
  return [{ path: ['workflowIdConflictPolicy'], message: 'must be use-existing' }]
}

function checkConflicts(...checks: ((body: Body) => Conflict[])[]) {
  return z.superRefine<Body>((body, context) => {
    if (!isObject(body)) return
    for (const { path, message } of checks.flatMap((conflicts) => conflicts(body)))
      context.addIssue({ code: 'custom', input: body, path, message })
  })
}

/** The bodies with each of the conflicts, as JSON Schema. */
export const OPTION_CONFLICTS = [
  { required: ['cronSchedule', 'startDelay'] },
  having({ workflowIdConflictPolicy: ['terminate-existing'], workflowIdReusePolicy: ['reject-duplicate'] }),
]
export const SIGNAL_CONFLICTS = [having({ workflowIdConflictPolicy: ['fail', 'terminate-existing'] })]
export const UPDATE_CONFLICTS = [
  { required: ['cronSchedule'] },
  { required: ['startDelay'] },
  having({ workflowIdConflictPolicy: ['terminate-existing'] }),
]

function having(values: Readonly<Record<string, readonly string[]>>) {
  const properties = Object.fromEntries(Object.entries(values).map(([key, some]) => [key, { enum: some }]))
  return { required: Object.keys(values), properties }
}

export const compatibleOptions = checkConflicts(optionConflicts)
export const compatibleWithSignal = checkConflicts(optionConflicts, signalConflicts)
export const compatibleWithUpdate = checkConflicts(optionConflicts, updateConflicts)
