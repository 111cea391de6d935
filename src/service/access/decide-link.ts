import type { Call } from '../model/call.ts'
import type { CreatedLink, CreateLinkCommand } from '../model/link.ts'
import {
  allowingGrants,
  allowOperator,
  type DecidePorts,
  decideOnRun,
  denied,
  handlerRule,
  rightsOf,
  withDecision,
} from './decide.ts'

/** One rule must allow both: to create links, and what the link sends. A link to a question also shows the run. */
export async function decideLink(
  ports: DecidePorts,
  command: CreateLinkCommand,
  given: Call,
  createLink: (command: CreateLinkCommand, call: Call) => Promise<CreatedLink>,
): Promise<CreatedLink> {
  const call = withDecision(given)
  const { ref, kind, handler, question } = command
  // Only the run says which activity or which signal it is.
  const isNamed = kind !== 'complete' && question === undefined
  const ofKind = isNamed ? { verb: kind, handler } : { verb: kind }
  const { workflowId } = ref
  const request = { verb: 'link' } as const
  const rights = rightsOf(call, ports)
  if (rights.kind === 'operator') {
    allowOperator(request, ref, call)
    return createLink(command, call)
  }
  const linking = allowingGrants(ports, rights.grants, { ...request, workflowId })
  if (linking.length === 0) throw denied({ ...request, workflowId }, call)
  // The run that was decided about must be the one that is shown.
  const shown = question === undefined ? { ref } : await decideOnRun(ports, rights.grants, { verb: 'read' }, ref, call)
  const allowed = await decideOnRun(ports, linking, ofKind, shown.ref, call)
  call.audit({ action: request.verb })
  const found = { ...command, ref: allowed.ref, rule: allowed.rule }
  if (isNamed || kind === 'update') return createLink(found, allowed.call)
  return createLink({ ...found, ruleFor: handlerRule(ports, linking, { verb: kind }, ref, call) }, allowed.call)
}
