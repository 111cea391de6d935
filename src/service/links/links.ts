/** Seals links, and opens those that are still valid. */

import type { Rule } from '../../shared/access/caller.ts'
import { type Defaults, denialOf } from '../../shared/access/grant.ts'
import { parseJson } from '../../shared/lib/json.ts'
import { createSealer } from '../../shared/lib/seal.ts'
import { ServiceError } from '../model/errors.ts'
import type { Link } from '../model/link.ts'

export interface LinksOptions {
  /** The first key encrypts new links; links with any of the keys can be opened. Null: no links. */
  keys: readonly Uint8Array<ArrayBuffer>[] | null
  /** The base of links. Null: no links. */
  publicUrl: string | null
  /** Services with the same keys and other names do not open each other's links. Default: they do. */
  deployment?: string | null
  /** Those of the service. A link for another one does not exist. */
  namespaces: readonly string[]
  defaults: Defaults
  /** The rule of the policy that is in force. */
  findRule(name: string): Rule | undefined
  now?: () => number
}

export interface Links {
  /** Throws `NotSupportedError` if links cannot be created, with the name of the variable that is missing. */
  assertSupported(): void
  /** The URL with the sealed link. Rejects with `PayloadTooLargeError` if it is too long for mail programs. */
  urlOf(link: Link): Promise<string>
  /**
   * Rejects with `LinkNotFoundError` for a token that this service has not sealed, and for a link whose rule is gone;
   * with `LinkExpiredError` later than `expiresAt`.
   */
  open(token: string): Promise<Link>
}

// Change it together with the form of `Link`: links of the earlier form are then not valid.
const PURPOSE = 'portico link 1'

// Mail programs and proxies cut longer URLs.
const MAX_URL_LENGTH = 3072

export function createLinks(options: LinksOptions): Links {
  const { keys, publicUrl, deployment, namespaces, now = Date.now } = options
  const sealer = keys === null ? null : createSealer(keys, PURPOSE, deployment)

  return {
    assertSupported() {
      if (sealer === null) throw notConfigured('SERVICE_SIGNING_KEY')
      if (publicUrl === null) throw notConfigured('SERVICE_PUBLIC_URL')
    },
    async urlOf(link) {
      if (sealer === null) throw notConfigured('SERVICE_SIGNING_KEY')
      const url = `${publicUrl}/links/${await sealer.seal(JSON.stringify(link))}`
      if (url.length > MAX_URL_LENGTH) throw tooLong(url.length)
      return url
    },
    async open(token) {
      if (sealer === null) throw notConfigured('SERVICE_SIGNING_KEY')
      const text = token.length > MAX_URL_LENGTH ? null : await sealer.open(token)
      if (text === null) throw linkNotFound('signature')
      // Only `urlOf` seals for this purpose. The payloads keep their exact numbers.
      const link = parseJson(text) as Link
      if (!namespaces.includes(link.namespace)) throw linkNotFound('namespace is gone')
      if (!isAllowed(link, options)) throw linkNotFound('rule is gone')
      if (link.expiresAt <= now()) throw expired(link)
      return link
    },
  }
}

/** Whether the rule that allowed the link still exists, and still allows it. */
function isAllowed(link: Link, { defaults, findRule }: Pick<LinksOptions, 'defaults' | 'findRule'>): boolean {
  const { rule: name, kind, handler, namespace, workflowId, workflowName } = link
  if (name === null) return true
  const rule = findRule(name)
  if (rule === undefined) return false
  const { can, namespaces, workflows } = rule
  // A pattern with a claim was filled in with the creator's claim. The link does not have it: ids are not checked then.
  const ids = rule.ids?.some((pattern) => pattern.includes('{')) ? undefined : rule.ids
  const grant = { rule: name, can, ids, namespaces, workflows, catalogs: undefined, options: [] }
  return [{ verb: 'link' } as const, { verb: kind, handler }].every(
    (request) => denialOf(grant, { ...request, namespace, workflowId, workflowName }, defaults) === null,
  )
}

function notConfigured(variable: string): ServiceError {
  return new ServiceError('NotSupportedError', `Links are not enabled: set ${variable} (GET /capabilities: links)`)
}

/** The same error for every link that is not valid: it does not reveal the reason, which is in the log. */
function linkNotFound(reason: string): ServiceError {
  return new ServiceError('LinkNotFoundError', 'This link is not valid; it may be incomplete, or was changed', {
    reason,
  })
}

function expired({ expiresAt }: Link): ServiceError {
  const message = `This link expired at ${new Date(expiresAt).toISOString()}`
  return new ServiceError('LinkExpiredError', message, { reason: 'expired' })
}

function tooLong(length: number): ServiceError {
  return new ServiceError(
    'PayloadTooLargeError',
    `The URL of the link has ${length} characters, which is more than ${MAX_URL_LENGTH}; shorten title, details, labels or payloads`,
  )
}
