import { newId } from '../../lib/new-id.ts'
import { isOpen } from '../../protocol/execution.ts'
import { admitMessage } from '../admission/admit-message.ts'
import { rejectCatalog, rejectOlderCatalog } from '../control/catalog-guard.ts'
import { notRunning } from '../control/control.ts'
import { missingActivity } from '../control/report-activity.ts'
import type { Call } from '../model/call.ts'
import type { Description } from '../model/execution.ts'
import type { Choice, CreatedLink, CreateLinkCommand, Link } from '../model/link.ts'
import type { Ports } from '../model/ports.ts'
import { messageOf } from './choose.ts'

type CreateLinkPorts = Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'links' | 'now'>

// The engine may drop the events of a pending workflow task, and give their ids to others.
const UNCERTAIN_EVENTS = 10

/** Creates a link for the run that `ref` names now. A run that continues it does not know the link. */
export async function createLink(
  ports: CreateLinkPorts,
  { ref, expiresInMs, rule = null, ruleFor, ...content }: CreateLinkCommand,
  call: Call,
): Promise<CreatedLink> {
  const { links, engine, catalogs, now = Date.now } = ports
  links.assertSupported()
  rejectOlderCatalog(ports, ref)
  const run = await engine.describe(ref, call)
  rejectCatalog(run)
  const { workflowId, runId, workflowName, historyLength } = run
  call.audit({ runId, workflowName })
  if (!isOpen(run.status)) throw notRunning(run)
  const link: Link = {
    linkId: newId(),
    namespace: catalogs.namespace,
    ...{ workflowId, runId, workflowName },
    ...content,
    expiresAt: now() + expiresInMs,
    afterEventId: Math.max(0, historyLength - UNCERTAIN_EVENTS),
    creator: call.caller?.id ?? null,
    rule,
    ...(content.activityId !== undefined && admitActivity(run, content.activityId, ruleFor)),
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
  const allowed = activityType === undefined ? undefined : ruleFor({ activityType, workflowName: run.workflowName })
  if (activityType === undefined || allowed === undefined) throw missingActivity(run, activityId, null)
  return { handler: activityType, rule: allowed.rule }
}

// Used to check choices with a comment against the published schema, which must accept any text of a person.
const SAMPLE_COMMENT = 'A comment'

/** Checks everything that the link can send. */
async function checkChoices(ports: CreateLinkPorts, link: Link, call: Call): Promise<string[]> {
  const { kind, workflowId, runId } = link
  // Workers publish no schemas of activities.
  if (kind === 'complete') return []
  const warnings = new Set<string>()
  for (const [index, choice] of link.choices.entries()) {
    for (const comment of commentsOf(choice)) {
      const message = messageOf(link, choice, comment, `/choices/${index}/payload`)
      const found = await admitMessage(ports, { kind, ref: { workflowId, runId }, message }, call)
      for (const warning of found) warnings.add(warning)
    }
  }
  return [...warnings]
}

function commentsOf({ comment }: Choice): (string | undefined)[] {
  if (comment === 'none') return [undefined]
  return comment === 'required' ? [SAMPLE_COMMENT] : [undefined, SAMPLE_COMMENT]
}
