/** What tests read in pages of Markdown. */

/** Without blocks of code: what stands there is no link and no heading. */
export function proseOf(text: string): string {
  return text.replaceAll(/^```[^\n]*\n.*?^```$/gms, '')
}

/** Links without a scheme, as they are written. */
export function relativeLinks(text: string): string[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** Anchors of headings, in the form that GitHub and npm use. */
export function anchorsIn(text: string): Set<string> {
  const headings = [...proseOf(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    ),
  )
}

/** The text below a heading of the second level, up to the next one. */
export function chapterOf(text: string, heading: string): string {
  const chapter = new RegExp(`^## ${heading}\\n(.*?)(?=^## |$(?![^]))`, 'ms').exec(text)?.[1]
  if (chapter === undefined) throw new Error(`There is no chapter ${heading}`)
  return chapter
}

/** The blocks of code in this language, in order. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code = '']) => code)
}

/** The TypeScript blocks that name their file in the first line. */
export function namedFiles(text: string): Map<string, string> {
  const files = codeBlocks(text, 'ts').flatMap((code) => {
    const name = /^\/\/ (\S+\.ts)\n/.exec(code)?.[1]
    return name === undefined ? [] : [[name, code] as const]
  })
  return new Map(files)
}
