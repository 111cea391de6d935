/** `portico hooks test`. */
import { readFile } from 'node:fs/promises'
import { readAnswer } from '../../client/connection/answer.ts'
import { PorticoError } from '../../client/portico-error.ts'
import { parsePolicyText } from '../../shared/config/policy-variables.ts'
import type { Environment } from '../../shared/config/variables.ts'
import { type Hook, toHook } from '../../shared/hooks/hooks.ts'
import { proofHeaders } from '../../shared/hooks/schemes.ts'
import { deadlineSignal } from '../../shared/lib/abort.ts'
import { errorCode } from '../../shared/lib/error-code.ts'
import { parseJson } from '../../shared/lib/json.ts'
import { findJsonSyntaxError } from '../../shared/lib/json-syntax-error.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { Interruption, UsageError } from '../failures.ts'
import { cellOf, pairs } from '../output/table.ts'

export interface HookFlags extends CommonFlags {
  id?: string
  header?: string[]
}

/** Signs the file as the sender of the hook does, and sends it to the service. */
export async function testHook(name: string, path: string, flags: HookFlags): Promise<void> {
  const hook = await readHook(name, process.env)
  const body = new Uint8Array(await readOrFail(path, path))
  const more = (flags.header ?? []).map(readHeader)
  await callService(flags, async ({ settings, signal, show }) => {
    // A file must not decide where a secret is sent, or what is signed with it.
    if (settings.isUrlOfFile)
      throw new UsageError(
        `The sample is not sent to ${settings.url}, which a settings file names. To send it, set PORTICO_URL or --url to that URL.`,
      )
    const isForm = findJsonSyntaxError(new TextDecoder().decode(body)) !== null
    const deadline = deadlineSignal(Date.now() + READ_TIMEOUT_MS, signal)
    const url = `${settings.url}/hooks/${name}`
    const response = await send(url, {
      method: 'POST',
      headers: {
        'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        ...Object.fromEntries(more),
        ...(await proofHeaders(hook, { body, url: hook.url ?? url }, Date.now(), flags.id)),
      },
      body,
      redirect: 'manual',
      signal: deadline.signal,
    }).finally(deadline.release)
    // The answer to a form of Slack.
    if (response.ok && response.headers.get('Content-Type') === null)
      return show({ accepted: true }, () => 'The service has accepted the sample.')
    const { body: answer } = await readAnswer(response, `POST /hooks/${name}`, parseJson).catch((error) => {
      throw aboutSecret(error, hook)
    })
    return show(answer as Record<string, unknown>, (answered) =>
      pairs(Object.entries(answered).map(([key, value]): [string, string] => [key, cellOf(value)])),
    )
  })
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    // Ctrl-C.
    if (error instanceof Interruption) throw error
    throw new PorticoError('ConnectionError', 'The service cannot be reached', { status: null }, error)
  }
}

/** The advice for this error is about the token of the service, which hooks do not have. */
function aboutSecret(error: unknown, { secretEnv }: Hook): unknown {
  if (!(error instanceof PorticoError) || error.error !== 'UnauthorizedError') return error
  return new UsageError(
    `the service rejects the proof: its ${secretEnv.join(', ')} differs, or its scheme, or its clock`,
  )
}

async function readHook(name: string, env: Environment): Promise<Hook> {
  const { SERVICE_POLICY: text, SERVICE_POLICY_FILE: path } = env
  if (!text && !path) throw new UsageError('SERVICE_POLICY or SERVICE_POLICY_FILE must be set: it defines the hooks')
  const policy = text ? text : String(await readOrFail(path ?? '', 'that SERVICE_POLICY_FILE names'))
  // Only the service needs its namespaces, and the secrets of the other hooks.
  const parsed = parsePolicyText(policy, { namespaces: null })
  if ('issues' in parsed) throw new UsageError(['the policy has mistakes:', ...parsed.issues].join('\n'))
  const { hooks } = parsed.policy
  const definition = Object.hasOwn(hooks, name) ? hooks[name] : undefined
  if (definition === undefined) {
    const names = Object.keys(hooks).join(', ') || 'none'
    throw new UsageError(`the policy has no hook ${name}; its hooks: ${names}`)
  }
  const hook = toHook(name, definition, env, env.SERVICE_PUBLIC_URL?.replace(/\/$/, '') || null)
  if (hook.secrets.length > 0) return hook
  throw new UsageError(`${definition.secretEnv.join(' or ')} must be set: the secret of the hook ${name}`)
}

function readHeader(header: string): [name: string, value: string] {
  const [, name, value] = /^([\w-]+): *(.*)$/.exec(header) ?? []
  if (name === undefined || value === undefined) throw new UsageError('--header must be a name, a colon and a value')
  return [name, value]
}

async function readOrFail(path: string, shown: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    throw new UsageError(`the file ${shown} cannot be read (${errorCode(error)})`)
  })
}
