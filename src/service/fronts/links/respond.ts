/** Responds to the holder of a link: with a page, or with JSON. */
import type { Context } from 'hono'
import { type Env, jsonResponse, respond, setHeader } from '../../http/context.ts'
import { problemBody, problemResponse } from '../../http/errors.ts'
import type { Link } from '../../model/link.ts'
import { PAGE_POLICY, renderPage, type View } from './page.ts'

/** `act` sets the link as soon as it is known, so that the page of an error can show it. */
export interface Opened {
  link: Link | null
}

/** The response to what `act` returns, or to its error. */
export async function respondToHolder(
  c: Context<Env>,
  act: (opened: Opened) => Promise<{ json: unknown; view: View }>,
): Promise<Response> {
  // The URL is the credential: no other site and no search engine may have it.
  setHeader(c, 'Referrer-Policy', 'no-referrer')
  setHeader(c, 'X-Robots-Tag', 'noindex')
  const opened: Opened = { link: null }
  try {
    const { json, view } = await act(opened)
    return prefersJson(c) ? jsonResponse(c, json) : pageOf(c, opened.link, view)
  } catch (error) {
    if (!accepts(c, 'text/html') || !(error instanceof Error)) throw error
    c.error = error
    const { status, headers } = problemResponse(c, error)
    const retryAfter = headers.get('Retry-After')
    if (retryAfter !== null) setHeader(c, 'Retry-After', retryAfter)
    return pageOf(c, opened.link, { state: 'failed', problem: problemBody(c, error) }, status)
  }
}

function pageOf(c: Context<Env>, link: Link | null, view: View, status = 200): Response {
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': PAGE_POLICY }
  return respond(c, renderPage(link, view), status, headers)
}

/** Browsers always accept HTML. Programs that send JSON get JSON, also if they accept anything. */
function prefersJson(c: Context<Env>): boolean {
  if (accepts(c, 'text/html')) return false
  return accepts(c, 'application/json') || /json/i.test(c.req.header('Content-Type') ?? '')
}

function accepts(c: Context<Env>, type: string): boolean {
  return (c.req.header('Accept') ?? '').toLowerCase().includes(type)
}
