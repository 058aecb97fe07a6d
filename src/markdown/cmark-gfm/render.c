// What githubHtml in ../cmark-gfm.ts calls.
#include <cmark-gfm-core-extensions.h>
#include <stdlib.h>

static const char *const names[] = {"table", "strikethrough", "autolink", "tasklist"};

__attribute__((export_name("allocate"))) char *allocate(size_t bytes) { return malloc(bytes); }

__attribute__((export_name("render"))) char *render(const char *text, size_t bytes, int with_boxes) {
  const int options = CMARK_OPT_UNSAFE | CMARK_OPT_FOOTNOTES;
  cmark_gfm_core_extensions_ensure_registered();
  cmark_parser *parser = cmark_parser_new(options);
  for (int i = 0; i < (with_boxes ? 4 : 3); i++)
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(names[i]));
  cmark_parser_feed(parser, text, bytes);
  return cmark_render_html(cmark_parser_finish(parser), options, cmark_parser_get_syntax_extensions(parser));
}
