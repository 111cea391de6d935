/** The rows of schedules. Rules name a schedule by its id, with the patterns that they have for workflow ids. */

import type { Grant } from '../../shared/access/caller.ts'
import { matchesAll, matchesAny } from '../../shared/access/patterns.ts'
import type { Call } from '../model/call.ts'
import type { Act, PutScheduleCommand } from '../model/commands.ts'
import { type OnSchedule, scheduleNotFound } from '../model/schedule.ts'
import { allowingGrants, forbidden, rightsOf, withDecision } from './decide.ts'
import type { Verb, VerbPorts } from './guard.ts'
import { decideStart, withoutForeign } from './guard-starts.ts'

type ScheduleVerb = 'read' | 'schedule'

/** Reads or changes a schedule. One of a workflow that is not the caller's does not exist for it. */
export function onSchedule<Input extends OnSchedule, Output>(
  verb: ScheduleVerb,
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return {
    access: verb,
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const { scheduleId } = input
      const allowing = allowed(ports, verb, scheduleId, call)
      const admit = allowing && admitting(allowing, scheduleId, call)
      if (admit) admit((await ports.engine.describeSchedule(scheduleId, call)).workflowName)
      return act(input, call)
    },
  }
}

/**
 * Creates or replaces a schedule. That is also to start its workflow, in runs with ids of the schedule's choice: rules
 * must allow all that begin with the workflow id.
 */
export function onPutSchedule<Output>(
  act: Act<VerbPorts, PutScheduleCommand, Output>,
): Verb<PutScheduleCommand, Output> {
  return {
    access: 'schedule',
    act,
    async decide(ports, input, given, act) {
      const call = withDecision(given)
      const { scheduleId, start } = input
      const allowing = allowed(ports, 'schedule', scheduleId, call)
      call.audit({ workflowName: start.workflowName })
      if (allowing === null) return act(input, call)
      const rights = rightsOf(call, ports)
      const grants = rights.kind === 'granted' ? rights.grants : []
      // A pattern has no `*` before its end, so it matches this text only if it matches every id that begins so.
      const anyRun = { ...start, workflowId: `${start.workflowId}-*` }
      // Nothing is started: only a denial is recorded.
      const denials = {
        ...call,
        audit: (facts: Parameters<Call['audit']>[0]) => facts.rule === 'none' && call.audit(facts),
      }
      const { workflowName } = (await decideStart(ports, grants, anyRun, denials)).command
      const ofWorkflow = allowing.find(({ workflows }) => matchesAny(workflows, workflowName))
      if (ofWorkflow === undefined) throw denied('schedule', scheduleId, call, [`workflow "${workflowName}"`])
      call.audit({ rule: ofWorkflow.rule, workflowName })
      const admitReplaced = admitting(allowing, scheduleId, call)
      const command = { ...input, start: { ...start, workflowName }, ...(admitReplaced && { admitReplaced }) }
      try {
        return await act(command, call)
      } catch (error) {
        throw withoutForeign(error, ports, grants, start)
      }
    },
  }
}

/** The rules that allow the verb for the id, whether the schedule exists or not; null for an operator. */
function allowed(ports: VerbPorts, verb: ScheduleVerb, scheduleId: string, call: Call): Grant[] | null {
  call.audit({ action: verb, rule: null, scheduleId })
  const rights = rightsOf(call, ports)
  if (rights.kind === 'operator') return null
  const allowing = allowingGrants(ports, rights.grants, { verb, workflowId: scheduleId })
  const [first] = allowing
  if (first === undefined) throw denied(verb, scheduleId, call)
  call.audit({ rule: first.rule })
  return allowing
}

/** Throws unless one of the rules is for the workflow of the schedule; undefined if one is for all workflows. */
function admitting(
  allowing: readonly Grant[],
  scheduleId: string,
  call: Call,
): ((workflowName: string) => void) | undefined {
  if (allowing.some(({ workflows }) => matchesAll(workflows))) return
  return (workflowName) => {
    const rule = allowing.find(({ workflows }) => matchesAny(workflows, workflowName))
    call.audit({ rule: rule === undefined ? 'none' : rule.rule, workflowName })
    if (rule === undefined) throw scheduleNotFound(scheduleId)
  }
}

function denied(verb: ScheduleVerb, scheduleId: string, call: Call, facts: readonly string[] = []) {
  call.audit({ action: verb, rule: 'none', scheduleId })
  return forbidden(verb, [...facts, `schedule "${scheduleId}"`])
}
