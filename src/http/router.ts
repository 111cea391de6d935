import type { Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { TrieRouter } from 'hono/router/trie-router'

const OF_A_RUN = '/workflow/:id/'
const PREFIX = '/workflow/'

/**
 * Finds routes. Most requests are about one run: one regular expression finds their routes in a fifth of the time of
 * the trie. It cannot hold them together with `/workflow/catalog/:catalog`, though, so that a path like that is looked
 * up in the trie.
 */
export function createRouter<T>(): Router<T> {
  const all = new TrieRouter<T>()
  const ofRuns = new RegExpRouter<T>()
  // What may come in the place of the id.
  const literals = new Set<string>()

  function isOfRun(path: string): boolean {
    if (!path.startsWith(PREFIX)) return false
    const end = path.indexOf('/', PREFIX.length)
    return end !== -1 && !literals.has(path.slice(PREFIX.length, end))
  }

  return {
    name: 'portico',
    add(method, path, handler) {
      all.add(method, path, handler)
      if (path.startsWith(OF_A_RUN)) ofRuns.add(method, path, handler)
      else if (path.startsWith(PREFIX)) literals.add(path.slice(PREFIX.length).split('/', 1)[0] ?? '')
    },
    match: (method, path) => (isOfRun(path) ? ofRuns : all).match(method, path),
  }
}
