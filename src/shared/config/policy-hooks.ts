/** The hooks of a policy: what happens with the webhooks of other systems. `docs/hooks.md` describes them. */
import * as z from 'zod/mini'
import { HOOK_ACTIONS, HOOK_SECRET_PREFIX } from '../hooks/hook-schemes.ts'
import { CHALLENGES } from '../hooks/presets.ts'
import { standardSecretIssue } from '../hooks/standard-secret.ts'
import { pointerIssue } from '../lib/json.ts'
import { checkedString } from '../wire/checked-string.ts'
import { activityIdIssue, catalogIssue, handlerNameIssue, workflowNameIssue } from '../wire/names.ts'
import { always, oneOrMore, recordOf } from './json-document.ts'
import { HEADER, headerList, headerName, scheme, source } from './policy-hook-scheme.ts'
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

const headerOrPointer = checkedString((name) =>
  name.startsWith('/') ? pointerIssue(name) : HEADER.test(name) ? null : 'must be that of a header, or a JSON Pointer',
)

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
      scheme,
      secretEnv: oneOrMore(secretName),
      header: z.exactOptional(headerName),
      id: z.exactOptional(source),
      headers: z.exactOptional(headerList),
      when: z.exactOptional(recordOf(headerOrPointer, oneOrMore(z.string()))),
      challenge: z.exactOptional(z.enum(CHALLENGES, { error: `must be one of ${CHALLENGES.join(', ')}` })),
      verifyTokenEnv: z.exactOptional(oneOrMore(secretName)),
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
      ...(['header', 'id', 'headers'] as const).map((key) =>
        z.refine<Partial<Record<'header' | 'headers' | 'id' | 'scheme', unknown>>>(
          (hook) => hook[key] === undefined || hook.scheme === 'token',
          {
            path: [key],
            error: `must not exist: only the scheme token has ${key} here; other schemes can be written as an object`,
            ...always,
          },
        ),
      ),
      z.refine(({ challenge, verifyTokenEnv }) => (challenge === 'hub') === (verifyTokenEnv !== undefined), {
        path: ['verifyTokenEnv'],
        error: 'must name a variable if challenge is hub, and not exist otherwise',
        ...always,
      }),
      z.check(({ value: { scheme, secretEnv }, issues }) => {
        if (scheme !== 'standard') return
        const found = new Set([secretEnv].flat().map(issueOf))
        for (const message of found)
          if (message) issues.push({ code: 'custom', input: '', path: ['secretEnv'], message })
      }, always),
    )

  function issueOf(variable: string): string | null {
    return secrets && Object.hasOwn(secrets, variable) ? standardSecretIssue(secrets[variable] ?? '') : null
  }
}
