/** Escapes everything but ASCII in bundles. Bun reads files that begin with `// @bun` as Latin-1 (decision 020). */
import type { Plugin } from 'rolldown'

export function asciiOnly(): Plugin {
  return {
    name: 'ascii-only',
    // This runs after minifying, because the minifier replaces escapes with characters.
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === 'chunk') chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped)
      }
    },
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
