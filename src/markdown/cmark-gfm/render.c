// What githubHtml in ../cmark-gfm.ts calls.
#include <cmark-gfm-core-extensions.h>
#include <stdlib.h>

static const char *const names[] = {"table", "strikethrough", "autolink", "tasklist"};

// An author can write the HTML of footnotes, too, so they are removed before there is any.
static void remove_footnotes(cmark_node *document) {
  cmark_iter *iter = cmark_iter_new(document);
  cmark_event_type event;
  while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
    cmark_node *node = cmark_iter_get_node(iter);
    cmark_node_type type = cmark_node_get_type(node);
    if (event == CMARK_EVENT_EXIT && (type == CMARK_NODE_FOOTNOTE_REFERENCE || type == CMARK_NODE_FOOTNOTE_DEFINITION))
      cmark_node_unlink(node);
  }
  cmark_iter_free(iter);
}

__attribute__((export_name("allocate"))) char *allocate(size_t bytes) { return malloc(bytes); }

__attribute__((export_name("render"))) char *render(const char *text, size_t bytes, int with_boxes) {
  const int options = CMARK_OPT_UNSAFE | CMARK_OPT_FOOTNOTES;
  cmark_gfm_core_extensions_ensure_registered();
  cmark_parser *parser = cmark_parser_new(options);
  for (int i = 0; i < (with_boxes ? 4 : 3); i++)
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(names[i]));
  cmark_parser_feed(parser, text, bytes);
  cmark_node *document = cmark_parser_finish(parser);
  remove_footnotes(document);
  return cmark_render_html(document, options, cmark_parser_get_syntax_extensions(parser));
}
