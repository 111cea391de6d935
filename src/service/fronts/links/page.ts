/** The page of a link, as a string. It needs no script, and loads nothing. */

import type { ProblemFields } from '../../http/problem.ts'
import { MAX_COMMENT_LENGTH } from '../../links/choose.ts'
import type { Link, LinkAnswer, UsedLink } from '../../model/link.ts'
import { STYLE, STYLE_HASH } from './page-style.ts'

export const PAGE_POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'`

/** What the page needs to know of a link. */
type ShownLink = Pick<Link, 'choices' | 'details' | 'expiresAt' | 'title' | 'workflowName'>

/** What the page shows. */
export type View =
  | { state: 'open' }
  | { state: 'answered'; answer: LinkAnswer }
  | { state: 'recorded'; used: UsedLink }
  | { state: 'failed'; problem: Pick<ProblemFields, 'error' | 'message'> & { recorded?: string; at?: string } }

/** `link` is null if it is not known: then only an error can be shown. */
export function renderPage(link: ShownLink | null, view: View, nowMs: number = Date.now()): string {
  const title = escapeHtml(link?.title ?? 'Link')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${detailsOf(link)}${contentOf(link, view, nowMs)}
</main>
</body>
</html>
`
}

function detailsOf(link: ShownLink | null): string {
  const rows = link?.details?.map(({ label, value }) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>\n`)
  return rows === undefined || rows.length === 0 ? '' : `<dl>\n${rows.join('')}</dl>\n`
}

function contentOf(link: ShownLink | null, view: View, nowMs: number): string {
  switch (view.state) {
    case 'open':
      return formsOf(link, nowMs)
    case 'answered':
      return `<p class="good">Already answered: ${answerOf(view.answer)}</p>${ONE_USE}`
    case 'recorded':
      return `<p class="good" role="status">Recorded: ${answerOf({ label: view.used.recorded, at: view.used.at })}</p>
${resultOf(view.used)}<p class="quiet">You can close this page.</p>`
    case 'failed':
      return failureOf(link, view.problem, nowMs)
  }
}

const ONE_USE = '<p class="quiet">A link can be used once. Nothing else was done.</p>'

// After these errors the link cannot be used any more.
const FINAL: ReadonlySet<string> = new Set([
  'ActivityNotFoundError',
  'LinkExpiredError',
  'LinkNotFoundError',
  'LinkUsedError',
  'QuestionNotFoundError',
  'WorkflowNotFoundError',
  'WorkflowNotRunningError',
])

function failureOf(
  link: ShownLink | null,
  { error, message, recorded, at }: (View & { state: 'failed' })['problem'],
  nowMs: number,
): string {
  const answer = answerOf({ label: recorded ?? '', at: at === undefined ? null : new Date(at) })
  if (error === 'LinkUsedError')
    return `<p class="bad" role="alert">Not recorded, because this link was used before.</p>
<p>Recorded: ${answer}</p>`
  if (recorded !== undefined)
    return `<p class="good" role="status">Recorded: ${answer}</p>
<p class="bad" role="alert">The workflow reports an error: ${escapeHtml(message)}</p>`
  const reason = `<p class="bad" role="alert">${escapeHtml(messageFor(error, message))}</p>`
  return FINAL.has(error) ? reason : `${reason}\n${formsOf(link, nowMs)}`
}

function messageFor(error: string, message: string): string {
  if (error === 'TooManyRequestsError') return 'This link was used too often within a minute. Try again later.'
  return error === 'UpdateFailedError' ? `Not accepted: ${message}` : message
}

/** One form for each choice, so that a comment belongs to its button. */
function formsOf(link: ShownLink | null, nowMs: number): string {
  if (link === null) return ''
  const until = new Date(link.expiresAt)
  return `<p class="quiet">${escapeHtml(link.workflowName)} · one answer until ${timeOf(until)} (${timeLeft(link.expiresAt - nowMs)})</p>
${link.choices.map(formOf).join('\n')}`
}

function formOf({ label, comment, style }: ShownLink['choices'][number], index: number): string {
  const id = `comment-${index}`
  const required = comment === 'required' ? ' required' : ''
  const note = comment === 'required' ? 'required' : 'optional'
  const field = `<label for="${id}">Comment for “${escapeHtml(label)}” (${note})</label>
<textarea id="${id}" name="comment" maxlength="${MAX_COMMENT_LENGTH}"${required}></textarea>`
  const kind = style === undefined ? '' : ` class="${style}"`
  return `<form method="post">
${comment === 'none' ? '' : field}<button${kind} name="choice" value="${escapeHtml(label)}">${escapeHtml(label)}</button>
</form>`
}

/** The label, and when it was recorded. */
function answerOf({ label, at }: LinkAnswer): string {
  return `<strong>${escapeHtml(label)}</strong>${at === null ? '' : `, ${timeOf(at)}`}`
}

function resultOf({ result = null }: UsedLink): string {
  if (result === null) return ''
  return `<pre>${escapeHtml(typeof result === 'string' ? result : JSON.stringify(result, null, 2))}</pre>\n`
}

function timeOf(time: Date): string {
  return `<time datetime="${time.toISOString()}">${time.toUTCString()}</time>`
}

const RELATIVE = new Intl.RelativeTimeFormat('en')

/** Such as `in 3 days`, rounded. */
function timeLeft(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  if (minutes < 120) return RELATIVE.format(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return hours < 48 ? RELATIVE.format(hours, 'hour') : RELATIVE.format(Math.round(hours / 24), 'day')
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '')
}
