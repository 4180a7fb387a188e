import type { AddressChange } from './database-content.ts'

/** Values and the result of rewriting them. */
export interface RewriteCase {
  readonly change: AddressChange
  /** Values before and after. A value without a second one stays unchanged. */
  readonly values: readonly (readonly [before: string, after?: string])[]
}

const toPlain: AddressChange = { from: 'my.localhost:8081', to: 'new.example.org' }
const toPort: AddressChange = { from: 'my.localhost', to: 'my.localhost:9' }
const toDashes: AddressChange = { from: 'my--own.localhost', to: 'other--one.example.org' }

/** The cases for both programs that rewrite addresses: in a dump, and in a site. */
export const rewriteCases: readonly RewriteCase[] = [
  {
    change: toPlain,
    values: [
      ['http://my.localhost:8081', 'http://new.example.org'],
      ['see https://MY.localhost:8081/a?b#c.', 'see https://new.example.org/a?b#c.'],
      ['At http://my.localhost:8081. Then', 'At http://new.example.org. Then'],
      ['<script src="//my.localhost:8081/a.js">', '<script src="//new.example.org/a.js">'],
      ['访问http://my.localhost:8081获取', '访问http://new.example.org获取'],
      ['{"u":"http:\\/\\/my.localhost:8081\\/x"}', '{"u":"http:\\/\\/new.example.org\\/x"}'],
      [
        '"{\\"u\\":\\"http:\\\\\\/\\\\\\/my.localhost:8081\\\\\\/x\\"}"',
        '"{\\"u\\":\\"http:\\\\\\/\\\\\\/new.example.org\\\\\\/x\\"}"',
      ],
      [
        '<!-- wp:image {"url":"http://my.localhost:8081/a.png\\u0026b"} /-->',
        '<!-- wp:image {"url":"http://new.example.org/a.png\\u0026b"} /-->',
      ],
      ['r=http%3A%2F%2Fmy.localhost%3A8081%2Fx', 'r=http%3A%2F%2Fnew.example.org%2Fx'],
      ['r=http%253A%252F%252Fmy.localhost%253A8081%252Fx', 'r=http%253A%252F%252Fnew.example.org%252Fx'],
      ['my.localhost:8081', 'new.example.org'],
      ['{"domain":"my.localhost:8081","n":1}', '{"domain":"new.example.org","n":1}'],
      ['see my.localhost:8081 there'],
      ['http://my.localhost:80812/'],
      ['http://my.localhost:8081.example.com/'],
      ['http://my.localhost:8081-a/'],
      ['http://my.localhost/'],
      ['http://not-my.localhost:8081/'],
      ['http://www.my.localhost:8081/'],
      ['owner@my.localhost'],
      ['mailto:owner@my.localhost:8081'],
      // The base64 of "http://my.localhost:8081".
      ['aHR0cDovL215LmxvY2FsaG9zdDo4MDgx'],
    ],
  },
  {
    change: toPort,
    values: [
      ['http://my.localhost/', 'http://my.localhost:9/'],
      ['http://my.localhost:8081/'],
      ['%2F%2Fmy.localhost%2F', '%2F%2Fmy.localhost%3A9%2F'],
      ['%252f%252fmy.localhost%252f', '%252f%252fmy.localhost%253A9%252f'],
      ['%2F%2Fmy.localhost%3A8081%2F'],
      ['http://my.localhost.nl/'],
    ],
  },
  {
    change: toDashes,
    values: [
      ['http://my--own.localhost/', 'http://other--one.example.org/'],
      [
        '<!-- wp:x {"u":"http://my\\u002d\\u002down.localhost/"} /-->',
        '<!-- wp:x {"u":"http://other\\u002d\\u002done.example.org/"} /-->',
      ],
      [
        String.raw`<!-- wp:x {"a":"s:24:\u0022http://my\u002d\u002down.localhost\u0022;"} /-->`,
        String.raw`<!-- wp:x {"a":"s:29:\u0022http://other\u002d\u002done.example.org\u0022;"} /-->`,
      ],
    ],
  },
  {
    change: toPlain,
    values: [
      ['a:1:{i:0;s:24:"http://my.localhost:8081";}', 'a:1:{i:0;s:22:"http://new.example.org";}'],
      // WordPress reads it despite the whitespace.
      ['\na:1:{i:0;s:24:"http://my.localhost:8081";} ', '\na:1:{i:0;s:22:"http://new.example.org";} '],
      ['s:24:"http://my.localhost:8081";', 's:22:"http://new.example.org";'],
      // Lengths count bytes.
      ['a:1:{i:0;s:28:"http://my.localhost:8081/ü🌍"}'],
      ['a:1:{i:0;s:31:"http://my.localhost:8081/ü🌍";}', 'a:1:{i:0;s:29:"http://new.example.org/ü🌍";}'],
      [
        'O:8:"stdClass":2:{s:1:"u";s:24:"http://my.localhost:8081";s:1:"r";r:1;}',
        'O:8:"stdClass":2:{s:1:"u";s:22:"http://new.example.org";s:1:"r";r:1;}',
      ],
      // An object that serializes itself, without and with other values.
      ['C:3:"Foo":24:{http://my.localhost:8081}'],
      [
        'a:2:{i:0;C:3:"Foo":24:{http://my.localhost:8081}i:1;s:17:"my.localhost:8081";}',
        'a:2:{i:0;C:3:"Foo":24:{http://my.localhost:8081}i:1;s:15:"new.example.org";}',
      ],
      // Invalid values: a wrong length, trailing text, a type that PHP does not have, cut off.
      ['a:1:{i:0;s:25:"http://my.localhost:8081";}'],
      ['a:1:{i:0;s:24:"http://my.localhost:8081";}}'],
      ['a:1:{x:0;s:24:"http://my.localhost:8081";}'],
      ['a:2:{i:0;s:24:"http://my.localhost:8081";}'],
      // A key.
      ['a:1:{s:24:"http://my.localhost:8081";d:1.5;}', 'a:1:{s:22:"http://new.example.org";d:1.5;}'],
      // In a JSON text, the length is that of the meaning.
      [
        String.raw`{"a":"s:24:\"http:\/\/my.localhost:8081\";","b":"http:\/\/my.localhost:8081"}`,
        String.raw`{"a":"s:22:\"http:\/\/new.example.org\";","b":"http:\/\/new.example.org"}`,
      ],
      [
        String.raw`["a:1:{i:0;s:31:\"http://my.localhost:8081/\u00fc\ud83c\udf0d\";}", 5]`,
        String.raw`["a:1:{i:0;s:29:\"http://new.example.org/\u00fc\ud83c\udf0d\";}", 5]`,
      ],
      [String.raw`"s:26:\"\nhttp://my.localhost:8081\t\";"`, String.raw`"s:24:\"\nhttp://new.example.org\t\";"`],
      // In JSON in JSON, and serialized inside that.
      [
        String.raw`{"x":"{\"a\":\"s:24:\\\"http:\\\/\\\/my.localhost:8081\\\";\"}"}`,
        String.raw`{"x":"{\"a\":\"s:22:\\\"http:\\\/\\\/new.example.org\\\";\"}"}`,
      ],
      [
        String.raw`s:42:"{"a":"s:24:\"http://my.localhost:8081\";"}";`,
        String.raw`s:40:"{"a":"s:22:\"http://new.example.org\";"}";`,
      ],
      // As the block editor writes attributes.
      [
        String.raw`say "hi" <!-- wp:x {"a":"s:24:\u0022http://my.localhost:8081\u0022;"} /-->`,
        String.raw`say "hi" <!-- wp:x {"a":"s:22:\u0022http://new.example.org\u0022;"} /-->`,
      ],
      // A wrong length, and an invalid escape.
      [String.raw`{"a":"s:25:\"http:\/\/my.localhost:8081\";"}`],
      [
        String.raw`{"a":"s:24:\"http://my.localhost:8081\";\x"}`,
        String.raw`{"a":"s:24:\"http://new.example.org\";\x"}`,
      ],
      // A text that only looks like it.
      ['s:5:"http://my.localhost:8081', 's:5:"http://new.example.org'],
    ],
  },
]
