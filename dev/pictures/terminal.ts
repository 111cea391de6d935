/** Draws what a terminal shows as an SVG, in the colors that the reader prefers. */

export interface Step {
  command: string
  /** With the sequences that select colors. */
  output: string
}

const COLUMNS = 100
const LINE_HEIGHT = 20
// Of a monospaced font of 13 px; `textLength` fits each line to it, whatever font the reader has.
const COLUMN_WIDTH = 7.8
const MARGIN = 20
const TITLE_HEIGHT = 36

// Select Graphic Rendition, as the CLI uses it: dim, green, cyan.
const CLASSES: Readonly<Record<string, string>> = { '2': 'dim', '32': 'green', '36': 'cyan' }

const STYLE = `
.frame{fill:#f6f8fa;stroke:#d0d7de}.dot{fill:#d0d7de}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}
.prompt{fill:#0969da;font-weight:bold}.dim{fill:#59636e}.green{fill:#1a7f37}.cyan{fill:#0550ae}
@media(prefers-color-scheme:dark){
.frame{fill:#0d1117;stroke:#3d444d}.dot{fill:#3d444d}text{fill:#f0f6fc}
.prompt{fill:#58a6ff}.dim{fill:#9198a1}.green{fill:#3fb950}.cyan{fill:#79c0ff}}`

interface Part {
  text: string
  /** A class of the style sheet, or the empty string. */
  style: string
}

export function drawTerminal(steps: readonly Step[], title: string): string {
  const lines = steps.flatMap(({ command, output }, index) => [
    ...(index === 0 ? [] : [[]]),
    ...wrap([
      { text: '$ ', style: 'prompt' },
      { text: command, style: '' },
    ]),
    ...output.split('\n').flatMap((line) => wrap(toParts(line))),
  ])
  const width = Math.ceil(COLUMNS * COLUMN_WIDTH) + 2 * MARGIN
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + MARGIN
  const rows = lines.map((parts, index) => drawLine(parts, TITLE_HEIGHT + (index + 1) * LINE_HEIGHT))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...[0, 1, 2].map((dot) => `<circle class="dot" cx="${MARGIN + dot * 18}" cy="18" r="6"/>`),
    ...rows,
    '</svg>\n',
  ].join('\n')
}

function toParts(line: string): Part[] {
  const [first = '', ...others] = line.split('\u001b[')
  const parts = others.map((sequence) => {
    const [, code = '', text = ''] = /^(\d*)m(.*)$/s.exec(sequence) ?? []
    return { text, style: CLASSES[code] ?? '' }
  })
  return [{ text: first, style: '' }, ...parts].filter(({ text }) => text !== '')
}

function wrap(parts: readonly Part[]): Part[][] {
  const lines: Part[][] = [[]]
  let room = COLUMNS
  for (const { text, style } of parts)
    for (let rest = text; rest !== ''; ) {
      if (room === 0) {
        lines.push([])
        room = COLUMNS
      }
      const piece = rest.slice(0, room)
      lines.at(-1)?.push({ text: piece, style })
      room -= piece.length
      rest = rest.slice(piece.length)
    }
  return lines
}

function drawLine(parts: readonly Part[], y: number): string {
  const spans = parts.map(({ text, style }) =>
    style === '' ? escapeXml(text) : `<tspan class="${style}">${escapeXml(text)}</tspan>`,
  )
  const columns = parts.reduce((sum, { text }) => sum + text.length, 0)
  const length = columns === 0 ? '' : ` textLength="${(columns * COLUMN_WIDTH).toFixed(1)}"`
  return `<text x="${MARGIN}" y="${y}"${length} lengthAdjust="spacingAndGlyphs" xml:space="preserve">${spans.join('')}</text>`
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
