import { newId } from '../../shared/lib/new-id.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import { rejectCatalog, rejectOlderCatalog } from '../control/catalog-guard.ts'
import { notRunning } from '../control/control.ts'
import { missingActivity } from '../control/report-activity.ts'
import { admitMessage } from '../messages/admit-message.ts'
import { lastEventBefore } from '../messages/until-recorded.ts'
import type { Call } from '../model/call.ts'
import type { Description } from '../model/execution.ts'
import type { CreatedLink, CreateLinkCommand, Link } from '../model/link.ts'
import type { Ports } from '../ports.ts'
import { messageOf, sampleComments } from './choose.ts'
import { toQuestionLink } from './question-link.ts'

type CreateLinkPorts = Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'links' | 'now'>

/** Creates a link for the run that `ref` names now. A run that continues it does not know the link. */
export async function createLink(ports: CreateLinkPorts, command: CreateLinkCommand, call: Call): Promise<CreatedLink> {
  const { ref, expiresInMs, rule = null, ruleFor, title = '', choices = [], ...content } = command
  const { links, engine, catalogs, now = Date.now } = ports
  links.assertSupported()
  rejectOlderCatalog(ports, ref)
  const run = await engine.describe(ref, call)
  rejectCatalog(run)
  const { workflowId, runId, workflowName } = run
  call.audit({ runId, workflowName })
  if (!isOpen(run.status)) throw notRunning(run)
  const { activityId, question } = content
  const link: Link = {
    linkId: newId(),
    namespace: catalogs.namespace,
    ...{ workflowId, runId, workflowName },
    ...{ title, choices },
    ...content,
    expiresAt: now() + expiresInMs,
    afterEventId: lastEventBefore(run),
    creator: call.caller?.id ?? null,
    rule,
    ...(activityId !== undefined && admitActivity(run, activityId, ruleFor)),
    ...(question !== undefined && (await toQuestionLink(ports, run, question, command, call))),
  }
  const url = await links.urlOf(link)
  const warnings = await checkChoices(ports, link, call)
  return { url, linkId: link.linkId, expiresAt: new Date(link.expiresAt), workflowId, runId, warnings }
}

/** Throws the error of a missing activity also for one of a type that the caller may not complete. */
function admitActivity(
  run: Description,
  activityId: string,
  ruleFor: CreateLinkCommand['ruleFor'] = () => ({ rule: null }),
): Pick<Link, 'handler' | 'rule'> {
  const { activityType } = run.openActivity?.(activityId) ?? {}
  const allowed = activityType === undefined ? undefined : ruleFor(activityType, run.workflowName)
  if (activityType === undefined || allowed === undefined) throw missingActivity(run, activityId, null)
  return { handler: activityType, rule: allowed.rule }
}

/** Checks everything that the link can send. */
async function checkChoices(ports: CreateLinkPorts, link: Link, call: Call): Promise<string[]> {
  const { kind, workflowId, runId } = link
  // Workers publish no schemas of activities.
  if (kind === 'complete') return []
  const warnings = new Set<string>()
  for (const [index, choice] of link.choices.entries()) {
    for (const comment of sampleComments(choice)) {
      const message = await messageOf(link, choice, comment, `/choices/${index}/payload`)
      const found = await admitMessage(ports, { kind, ref: { workflowId, runId }, message }, call)
      for (const warning of found) warnings.add(warning)
    }
  }
  return [...warnings]
}
