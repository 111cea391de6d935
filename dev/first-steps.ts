// Where the page finds the API without a parameter.
const DEFAULT_URL = 'http://127.0.0.1:3001'

export interface Facts {
  withToken: boolean
  /** Whether `GET /docs` exists. */
  docs: boolean
  /** Whether `GET /console` exists. */
  console: boolean
  uiUrl: string | null
  chatPageUrl: string
}

/** A message with three requests to paste, one line each. */
export function firstSteps(url: string, { withToken, docs, console, uiUrl, chatPageUrl }: Facts): string {
  // The token must not appear in the terminal. The shell that runs the command reads it from its own environment.
  const authorization = withToken ? ` -H "Authorization: Bearer \${SERVICE_API_AUTH_TOKEN%%,*}"` : ''
  // Responses do not end with a newline.
  const curl = `curl -sSw '\\n'${authorization}`
  const post = (path: string, body: unknown) =>
    `${curl} ${url}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const order = { workflowName: 'order', workflowId: 'order-1', input: { orderId: '1', amount: 40, card: '4242' } }
  const steps = [
    [
      'Run a workflow and wait for its result:',
      post('/workflow/run', { workflowName: 'greet', input: { name: 'Ada' } }),
    ],
    [
      'Start a workflow and get its status:',
      `${post('/workflow/start', order)} && ${curl} ${url}/workflow/order-1/status`,
    ],
    ['List the workflows of the catalog:', `${curl} ${url}/workflow/catalog`],
  ]
  return [
    '',
    `Ready at ${url}. Try these in another terminal:`,
    ...steps.flatMap(([title, line]) => ['', `  ${title}`, `  ${line}`]),
    // EventSource cannot send a token.
    ...(withToken
      ? []
      : ['', `A page that shows a workflow's stream: ${chatPageUrl}${url === DEFAULT_URL ? '' : `?api=${url}`}`]),
    ...(console ? ['', `Runs, questions, and a form for each workflow: ${url}/console`] : []),
    ...(docs ? ['', `API reference, with a form for each request: ${url}/docs`] : []),
    ...(uiUrl === null ? [] : ['', `Histories in Temporal's web UI: ${uiUrl}`]),
    '',
  ].join('\n')
}
