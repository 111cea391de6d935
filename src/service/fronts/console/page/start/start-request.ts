/** What has been entered to start a workflow. */
export interface Entered {
  workflow: string
  catalog: string
  /** Empty: it is generated. */
  workflowId: string
  /** JSON of the first argument; undefined without one. */
  input: string | undefined
  /** JSON array of the further arguments; empty without any. */
  more: string
}

/** The body of the request, with each number as it was entered. */
export function bodyOf({ workflow, catalog, workflowId, input, more }: Entered): string {
  const members = [
    `"workflowName":${JSON.stringify(workflow)}`,
    ...(workflowId.trim() === '' ? [] : [`"workflowId":${JSON.stringify(workflowId.trim())}`]),
    `"catalog":${JSON.stringify(catalog)}`,
    argumentsOf(input, more),
  ]
  return `{${members.join(',')}}`
}

function argumentsOf(input: string | undefined, more: string): string {
  if (more.trim() === '') return input === undefined ? '"args":[]' : `"input":${input}`
  const further: unknown = JSON.parse(more)
  if (!Array.isArray(further)) throw new SyntaxError('The further arguments must be a JSON array')
  const items = more.trim().slice(1, -1).trim()
  return `"args":[${input ?? 'null'}${items === '' ? '' : `,${items}`}]`
}

/** A program that does the same with `portico/client`. */
export function codeOf(url: string, { workflow, workflowId, input, more }: Entered): string {
  const given = argumentsOf(input, more)
  const options = [
    ...(workflowId.trim() === '' ? [] : [`workflowId: ${JSON.stringify(workflowId.trim())}`]),
    ...(given === '"args":[]' ? [] : [given.replace(/^"(\w+)":/, '$1: ')]),
  ]
  const argument = options.length === 0 ? '' : `, { ${options.join(', ')} }`
  return [
    "import { createClient } from 'portico/client'",
    '',
    `const client = createClient({ url: ${JSON.stringify(url.replace(/\/$/, ''))}, token: process.env.PORTICO_TOKEN })`,
    `console.log(await client.run(${JSON.stringify(workflow)}${argument}))`,
  ].join('\n')
}
