/** The script of the reference page: reads the OpenAPI document, with the token if one is needed, and shows it with Swagger UI. */
import { keepAccessible } from './accessibility.js'
import { forReaders, NEW_KEY, PINNED } from './for-readers.js'

// The page is `<base>/docs`, whatever the base path is.
const base = new URL('.', location.href)
const start = document.querySelector('#start')
const access = document.querySelector('#access')
const state = document.querySelector('#state')
const failure = document.querySelector('#error')
const dark = matchMedia('(prefers-color-scheme: dark)')

// Nothing else holds the token: no storage, no URL, no element of the page.
let token = ''

showColors()
dark.addEventListener('change', showColors)

if (document.querySelector('meta[name="portico-token"]').content === 'required') {
  access.hidden = false
  access.addEventListener('submit', (event) => {
    event.preventDefault()
    token = access.elements.token.value.trim()
    void showReference()
  })
} else {
  void showReference()
}

/** The visitor's. Swagger UI's style sheet has both, but reads a class. */
function showColors() {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

async function showReference() {
  state.textContent = 'Loading the OpenAPI document…'
  failure.textContent = ''
  try {
    const spec = await readDocument()
    start.remove()
    show(spec)
  } catch (error) {
    state.textContent = ''
    failure.textContent = `The OpenAPI document could not be loaded: ${error.message}`
  }
}

async function readDocument() {
  const url = new URL('openapi.json', base)
  const catalog = new URLSearchParams(location.search).get('catalog')
  if (catalog !== null) url.searchParams.set('catalog', catalog)
  const response = await fetchWithToken(url)
  const body = await response.json()
  if (!response.ok) throw new Error(body.message)
  // The document may name another host, but the page may send requests to its own only.
  return { ...forReaders(body), servers: [{ url: base.href.replace(/\/$/, '') }] }
}

/** Omits the browser's own credentials: otherwise it would open a dialog if the token is rejected. */
function fetchWithToken(url, init = {}) {
  if (token === '') return fetch(url, init)
  return fetch(url, { ...init, credentials: 'omit', headers: { ...init.headers, Authorization: `Bearer ${token}` } })
}

function show(spec) {
  const domNode = document.querySelector('#reference')
  keepAccessible(domNode)
  const ui = window.SwaggerUIBundle({
    spec,
    domNode,
    presets: [window.SwaggerUIBundle.presets.apis],
    plugins: [ownComponents],
    layout: 'BaseLayout',
    deepLinking: true,
    displayRequestDuration: true,
    // Each operation shows its schemas. A list of all of them would take most of the time until the page is shown.
    defaultModelsExpandDepth: -1,
    persistAuthorization: false,
    validatorUrl: null,
    // The others have less contrast.
    syntaxHighlight: { theme: 'tomorrow-night' },
    requestInterceptor,
    onComplete: () => ui.layoutActions.show(['operations-tag', PINNED], false),
  })
}

function ownComponents({ React }) {
  return {
    components: {
      // The page has the token already.
      authorizeBtn: () => null,
      authorizeOperationBtn: () => null,
      // Swagger UI puts its links into buttons. The URL of an operation is in the address bar when it is open.
      DeepLink: ({ text }) => React.createElement('span', null, text),
    },
  }
}

function requestInterceptor(request) {
  // Only the document distinguishes `/workflow/run#greet` from `/workflow/run`. Swagger UI puts the query after the fragment.
  request.url = request.url.replace(/#[^?]*/, '')
  // Browsers repeat some requests without telling the page.
  if (request.headers['Idempotency-Key'] === NEW_KEY) request.headers['Idempotency-Key'] = createKey()
  if (token !== '') {
    // For the command that the page shows.
    request.headers.Authorization = 'Bearer <token>'
    request.userFetch = fetchWithToken
  }
  return request
}

/** `crypto.randomUUID` exists only on pages with TLS, and on those of this machine. */
function createKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, '0')).join('')
}
