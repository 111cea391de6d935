/** The hooks of a policy: what happens with the webhooks of other systems. `docs/hooks.md` describes them. */
import * as z from 'zod/mini'
import { checkedString } from '../protocol/checked-string.ts'
import { HOOK_ACTIONS, HOOK_SCHEMES, HOOK_SECRET_PREFIX, isDecodable } from '../protocol/hook-schemes.ts'
import { activityIdIssue, catalogIssue, handlerNameIssue, workflowNameIssue } from '../protocol/names.ts'
import { always, oneOrMore } from './json-document.ts'
import { hasPlaceholders, idTemplateIssue } from './policy-pattern.ts'

/** The variables with secrets of hooks, by name. */
export type HookSecrets = Readonly<Record<string, string>>

const workflowId = checkedString((template) => idTemplateIssue(template))

/** An id with placeholders. With one id for all events, only the first event would start a workflow. */
const idOfEvents = workflowId.check(
  z.refine(hasPlaceholders, {
    error: 'must have a placeholder, such as {/id}: each event starts a workflow of its own',
  }),
)

const workflowName = checkedString(workflowNameIssue)
const catalog = z.exactOptional(checkedString(catalogIssue))
const signalName = checkedString(handlerNameIssue)
const activityId = checkedString((template) => idTemplateIssue(template, activityIdIssue))

const start = z.strictObject({ workflowName, workflowId: z.exactOptional(idOfEvents), catalog })

const signalWithStart = z.strictObject({
  start: z.strictObject({ workflowName, workflowId: z.exactOptional(workflowId), catalog }),
  signal: z.strictObject({ name: signalName }),
})

const header = z.string().check(z.regex(/^[\w!#$%&'*+.^`|~-]+$/, { error: 'must be the name of a header' }))

/** Without `secrets`, any variable counts as set. No message shows a value, which may be a secret in a wrong place. */
export function hookSchema(secrets: HookSecrets | undefined) {
  const secretName = checkedString((variable) => {
    if (!/^SERVICE_HOOK_\w+$/.test(variable))
      return `must be the name of a variable that begins with ${HOOK_SECRET_PREFIX}`
    const secret = secrets && (Object.hasOwn(secrets, variable) ? secrets[variable] : '')
    if (secret === '') return 'names a variable that is not set'
    return secret === undefined || secret.trim() === secret
      ? null
      : 'names a variable with white space around its value'
  })
  return z
    .strictObject({
      scheme: z.enum(HOOK_SCHEMES, { error: `must be one of ${HOOK_SCHEMES.join(', ')}` }),
      secretEnv: oneOrMore(secretName),
      header: z.exactOptional(header),
      argument: z._default(z.enum(['event', 'body'], { error: 'must be event or body' }), 'event'),
      start: z.exactOptional(start),
      signal: z.exactOptional(z.strictObject({ workflowId, name: signalName })),
      signalWithStart: z.exactOptional(signalWithStart),
      complete: z.exactOptional(z.strictObject({ workflowId, activityId })),
    })
    .check(
      z.refine((hook) => HOOK_ACTIONS.filter((action) => Object.hasOwn(hook, action)).length === 1, {
        error: `must contain one of ${HOOK_ACTIONS.join(', ')}`,
        ...always,
      }),
      z.refine(({ scheme, header }) => header === undefined || scheme === 'token', {
        path: ['header'],
        error: 'must not exist: only the scheme token has a header of its own',
        ...always,
      }),
      z.refine(({ scheme, secretEnv }) => scheme !== 'standard' || [secretEnv].flat().every(isUsable), {
        path: ['secretEnv'],
        error: 'names a variable whose value is not base64 after whsec_',
        ...always,
      }),
    )

  function isUsable(variable: string): boolean {
    return secrets === undefined || !Object.hasOwn(secrets, variable) || isDecodable(secrets[variable] ?? '')
  }
}
