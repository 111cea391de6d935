/** One-use links, with which people without a credential answer a run: docs/links.md. */

import type { Caller } from '../../shared/access/caller.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { ExecutionRef } from './execution.ts'

export interface Choice {
  /** Unique in the link. */
  label: string
  /** The handler's only argument or the activity's output; absent for none. An object if the choice takes a comment. */
  payload?: unknown
  comment: 'none' | 'optional' | 'required'
  style?: 'danger'
}

/** What the page shows below the title. */
export interface LinkDetail {
  label: string
  value: string
}

/** What is sealed in the token of a link. It never changes: a link that is used changes only the history of its run. */
export interface Link extends RunRef {
  linkId: string
  namespace: string
  workflowName: string
  kind: 'signal' | 'update' | 'complete'
  /** Name of the handler; the type of the activity for `complete`. */
  handler: string
  /** For `complete`: the activity, which is open when the link is created. */
  activityId?: string
  /** The key of the question that the link answers: payloads are contents. */
  question?: string
  /** The id of the answer to the question. */
  messageId?: string
  title: string
  details?: LinkDetail[]
  choices: Choice[]
  /** Epoch milliseconds. */
  expiresAt: number
  /** The event of the answer has a higher id, so the history up to this event need not be read. */
  afterEventId: number
  /** Id of the caller who created it; null for a service that requires no credential. */
  creator: string | null
  /** The rule of the policy that allowed it; null for operators. */
  rule: string | null
}

/** The choice that the history of the run has recorded. */
export interface LinkAnswer {
  label: string
  at: Date | null
}

export interface CreateLinkCommand extends Pick<Link, 'activityId' | 'details' | 'handler' | 'kind' | 'question'> {
  ref: ExecutionRef
  /** Default: that of the question. */
  title?: string
  /** Default: those of the question. */
  choices?: Choice[]
  expiresInMs: number
  /**
   * The rule that allows it for the activity, or for the signal of the question; undefined without one. Default: no
   * rule is needed.
   */
  ruleFor?: (handler: string, workflowName: string) => { rule: string | null } | undefined
  /** The rule that allows it. Set by the policy's decision. */
  rule?: string | null
}

export interface CreatedLink extends RunRef {
  url: string
  linkId: string
  expiresAt: Date
  /** Why the answer may have no effect. */
  warnings: string[]
}

export interface UseLinkCommand {
  link: Link
  /** The label. */
  choice: string
  comment?: string
}

export interface UsedLink {
  /** The label of the choice. */
  recorded: string
  /** When it was recorded, by this request or an earlier one. */
  at: Date | null
  /** What the handler of an update has returned. */
  result?: unknown
}

/** The caller of requests with the link. A valid link is the right to use it: no rule restricts this caller. */
export function holderOf({ linkId, creator }: Link): Caller {
  const id = creator === null ? `link:${linkId}` : `link:${linkId} by ${creator}`
  return { kind: 'operator', id, limits: null }
}

/** A run receives one message for each id. */
export function messageIdOf({ linkId, messageId = `link-${linkId}` }: Link): string {
  return messageId
}

/** What the history keeps with an activity that a link has completed. The choices of a link never change. */
export function linkMarkOf(link: Link, label: string): string {
  return `${messageIdOf(link)}.${link.choices.findIndex((choice) => choice.label === label)}`
}

/** The message id of the link, and the index of the choice; null for any other mark. */
export function parseLinkMark(mark: string): { id: string; choice: string } | null {
  const [, id, choice] = /^(link-.+)\.(\d+)$/.exec(mark) ?? []
  return id === undefined || choice === undefined ? null : { id, choice }
}

/** The id of a signal, an update or the mark of an activity, and where to look for it. */
export interface MessageSearch {
  id: string
  /** The Temporal header to return. */
  header: string
  /** The event of the message has a higher id. */
  afterEventId: number
}

export interface FoundMessage {
  /**
   * Null if the run has not recorded the message. `header` is undefined if the message does not have it. For an
   * activity it is the index of the choice. `name` is that of a signal.
   */
  message: { header: unknown; at: Date | null; name?: string } | null
  isOpen: boolean
}
